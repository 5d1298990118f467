#include "models/pcie_tree.hpp"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <vector>

#include "models/machine_detail.hpp"

namespace sym::models::detail {
namespace {

struct Pair {
  int gpu, other;
  LinkClass link_class;
};

// What is said of GPUs and NICs, each pair once.
std::vector<Pair> pairs_of(const Machine& machine, bool with_nics) {
  std::vector<Pair> pairs;
  const int gpus = machine.gpus_per_node;
  for (int gpu = 0; gpu < gpus; ++gpu) {
    for (int other = gpu + 1; other < gpus && !machine.pair_class.empty(); ++other)
      pairs.push_back({gpu, other, pair_class_of(machine, gpu, other)});
    const int nics = with_nics && !machine.nic_class.empty() ? machine.nics_per_node : 0;
    for (int nic = 0; nic < nics; ++nic) {
      const auto at =
          static_cast<std::size_t>(gpu) * static_cast<std::size_t>(machine.nics_per_node) +
          static_cast<std::size_t>(nic);
      pairs.push_back({gpu, gpus + nic, machine.nic_class[at]});
    }
  }
  std::erase_if(pairs, [](const Pair& pair) { return pair.link_class <= LinkClass::nvlink; });
  return pairs;
}

// Sets of devices that have met so far.
class Sets {
 public:
  explicit Sets(int count) : parent_(static_cast<std::size_t>(count)) {
    std::iota(parent_.begin(), parent_.end(), 0);
  }
  int of(int device) {
    int& parent = parent_[static_cast<std::size_t>(device)];
    if (parent != device) parent = of(parent);
    return parent;
  }
  void join(int a, int b) { parent_[static_cast<std::size_t>(of(a))] = of(b); }

 private:
  std::vector<int> parent_;
};

std::string upper(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return name;
}

}  // namespace

std::string Misfit::text() const {
  return "is " + upper(link_class_name(stated)) + ", but what other cells say joins the two at " +
         upper(link_class_name(in_tree));
}

std::optional<Misfit> pcie_misfit(const Machine& machine, Devices devices) {
  const std::vector<Pair> pairs = pairs_of(machine, devices == Devices::all);
  Sets met(machine.gpus_per_node + machine.nics_per_node);
  for (const LinkClass height : {LinkClass::pix, LinkClass::pxb, LinkClass::phb, LinkClass::node}) {
    for (const Pair& pair : pairs) {
      if (pair.link_class == height) met.join(pair.gpu, pair.other);
    }
    for (const Pair& pair : pairs) {
      if (pair.link_class > height && met.of(pair.gpu) == met.of(pair.other))
        return Misfit{pair.gpu, pair.other, pair.link_class, height};
    }
  }
  return std::nullopt;
}

}  // namespace sym::models::detail
