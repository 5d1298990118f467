#include "backends/check/program_id.hpp"

#include <link.h>

#include <algorithm>
#include <fstream>
#include <utility>
#include <vector>

#include "backends/report/hash.hpp"

namespace sym::check {

namespace {

using Part = std::pair<std::size_t, std::size_t>;  // of the file: from, to

struct Layout {
  std::vector<Part> loaded;  // and never written
  std::vector<Part> left_out;
};

// The first that is told of is the program itself.
int first_object(dl_phdr_info* info, std::size_t, void* data) {
  Layout& layout = *static_cast<Layout*>(data);
  for (std::size_t i = 0; i < info->dlpi_phnum; ++i) {
    const auto& header = info->dlpi_phdr[i];
    const Part part{header.p_offset, header.p_offset + header.p_filesz};
    if (header.p_type == PT_LOAD && (header.p_flags & PF_W) == 0) layout.loaded.push_back(part);
    if (header.p_type == PT_NOTE) layout.left_out.push_back(part);  // the linker's hash of it all
  }
  layout.left_out.emplace_back(0, sizeof(ElfW(Ehdr)));  // says how long its debug information is
  return 1;
}

std::string hashed() {
  Layout layout;
  dl_iterate_phdr(first_object, &layout);
  std::ifstream in("/proc/self/exe", std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  report::Fnv hash;
  for (const auto& [from, to] : layout.loaded) {
    std::string part = bytes.substr(std::min(from, bytes.size()), to - from);
    for (const auto& [first, last] : layout.left_out) {
      for (std::size_t at = std::max(first, from); at < std::min(last, from + part.size()); ++at)
        part[at - from] = 0;
    }
    hash.add(part);
  }
  return hash.text();
}

}  // namespace

std::string program_id() {
  static const std::string id = hashed();  // it may be large
  return id;
}

}  // namespace sym::check
