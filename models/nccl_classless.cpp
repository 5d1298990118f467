#include "models/nccl_classless.hpp"

#include <algorithm>
#include <cstdlib>

namespace sym::models::detail {
namespace {

// "0000:00:16.0" -> 0x16 with domain and bus above it; -1 where it is no bus id.
long device_number(const std::string& busid) {
  long number = 0;
  std::size_t digits = 0;
  for (const char c : busid.substr(0, busid.find('.'))) {
    if (c == ':') continue;
    if (std::isxdigit(static_cast<unsigned char>(c)) == 0 || ++digits > 12) return -1;
    number = number * 16 + std::strtol(std::string(1, c).c_str(), nullptr, 16);
  }
  return number;
}

}  // namespace

NcclClassless::NcclClassless(const XmlAt& system) {
  std::vector<Run> runs;
  for (const XmlAt& cpu : system.children()) collect(cpu, runs);
  for (const Run& run : runs) longest_ = std::max(longest_, run.size());
  for (const Run& run : runs) {
    if (run.size() == longest_) gpus_.insert(run.begin(), run.end());
  }
}

void NcclClassless::collect(const XmlAt& parent, std::vector<Run>& runs) {
  long before = -2;
  for (const XmlAt& pci : parent.children()) {
    if (pci.name() != "pci") continue;
    collect(pci, runs);
    const bool leaf = !pci.has_child("pci") && !pci.has_child("gpu") && !pci.has_child("nic");
    if (!leaf || pci.has("class") || !pci.has("busid")) continue;
    any_ = true;
    const long number = device_number(pci.text("busid"));
    if (number < 0 || number != before + 1) runs.emplace_back();
    runs.back().push_back(pci.text("busid"));
    before = number;
  }
}

}  // namespace sym::models::detail
