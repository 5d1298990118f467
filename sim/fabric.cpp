#include "sim/fabric.hpp"

#include <array>
#include <limits>

#include "core/error.hpp"
#include "sim/grid_fabric.hpp"

namespace sym::sim {
namespace {

constexpr double no_cap = std::numeric_limits<double>::infinity();

// Leaves, spines, cores: rail and fat-tree. Uplinks that the NICs below cannot fill are no links.
class TreeFabric final : public Fabric {
 public:
  TreeFabric(const models::Machine& machine, const AddLink& add)
      : rail_(machine.fabric == "rail"),
        spine_(machine.shape.spine),
        name_(machine.name),
        hop_s_(machine.number_or("fabric_hop_us", 0) * 1e-6) {
    nodes_per_leaf_ =
        machine.shape.nodes_per_leaf > 0 ? machine.shape.nodes_per_leaf : machine.nodes;
    const int groups = (machine.nodes - 1) / nodes_per_leaf_ + 1;
    const int rails = rail_ ? machine.nics_per_node : 1;
    groups_ = groups;
    leaves_per_pod_ = machine.shape.leaves_per_pod > 0 ? machine.shape.leaves_per_pod : groups;
    const double below =
        machine.number("nic_gbps") * 1e9 * nodes_per_leaf_ * (rail_ ? 1 : machine.nics_per_node);
    const double over = machine.number_or("leaf_oversubscription", 1);
    const double pod_over = machine.number_or("pod_oversubscription", 1);
    const bool many_leaves = groups * rails > 1;
    for (int leaf = 0; many_leaves && spine_ && over > 1 && leaf < groups * rails; ++leaf)
      leaves_.push_back(add_pair(add, below / over, "leaf " + std::to_string(leaf)));
    const int pods = (groups - 1) / leaves_per_pod_ + 1;
    const double pod = below / over * leaves_per_pod_ * rails / pod_over;
    for (int at = 0; pods > 1 && pod_over > 1 && at < pods; ++at)
      pods_.push_back(add_pair(add, pod, "pod " + std::to_string(at)));
  }

  FabricWay way(NicAt from, NicAt to) const override {
    const int from_leaf = leaf_of(from);
    const int to_leaf = leaf_of(to);
    FabricWay way{{}, 0, no_cap};
    if (from_leaf == to_leaf) return way;
    if (!spine_) {
      throw UsageError("machine " + name_ + ": nothing joins NIC " + std::to_string(from.nic) +
                       " of node " + std::to_string(from.node) + " and NIC " +
                       std::to_string(to.nic) + " of node " + std::to_string(to.node) +
                       ", whose leaf switches have no spine; an algorithm that stays on its rail, "
                       "or a fabric with spine true, is accepted");
    }
    way.latency_s = 2 * hop_s_;  // the spine and the other leaf
    const int from_pod = group_of(from) / leaves_per_pod_;
    const int to_pod = group_of(to) / leaves_per_pod_;
    if (!leaves_.empty()) way.links.push_back(leaves_[static_cast<std::size_t>(from_leaf)][0]);
    if (from_pod != to_pod) {
      way.latency_s += 2 * hop_s_;  // the core and the other spine
      if (!pods_.empty()) {
        way.links.push_back(pods_[static_cast<std::size_t>(from_pod)][0]);
        way.links.push_back(pods_[static_cast<std::size_t>(to_pod)][1]);
      }
    }
    if (!leaves_.empty()) way.links.push_back(leaves_[static_cast<std::size_t>(to_leaf)][1]);
    return way;
  }

 private:
  using UpDown = std::array<int, 2>;

  static UpDown add_pair(const AddLink& add, double bytes_per_s, const std::string& name) {
    return {add(bytes_per_s, name + " up"), add(bytes_per_s, name + " down")};
  }

  int group_of(NicAt at) const { return at.node / nodes_per_leaf_; }
  int leaf_of(NicAt at) const { return (rail_ ? at.nic * groups_ : 0) + group_of(at); }

  const bool rail_;
  const bool spine_;
  const std::string name_;
  const double hop_s_;
  int nodes_per_leaf_ = 1;
  int leaves_per_pod_ = 1;
  int groups_ = 1;
  std::vector<UpDown> leaves_;
  std::vector<UpDown> pods_;
};

// Minimal ways: router, the group's router that holds the link to the other group, its peer there,
// router. Which router holds which link goes round the group.
class DragonflyFabric final : public Fabric {
 public:
  DragonflyFabric(const models::Machine& machine, const AddLink& add)
      : nodes_per_router_(machine.shape.nodes_per_router),
        routers_(machine.shape.routers_per_group),
        groups_((machine.nodes - 1) / (nodes_per_router_ * routers_) + 1),
        hop_s_(machine.number_or("fabric_hop_us", 0) * 1e-6) {
    for (int group = 0; group < groups_; ++group) {
      for (int a = 0; a < routers_; ++a) {
        for (int b = 0; b < routers_; ++b)
          local_.push_back(a == b ? -1
                                  : add(machine.number("local_gbps") * 1e9,
                                        "group " + std::to_string(group) + " router " +
                                            std::to_string(a) + ">" + std::to_string(b)));
      }
    }
    for (int a = 0; a < groups_; ++a) {
      for (int b = 0; b < groups_; ++b)
        global_.push_back(a == b ? -1
                                 : add(machine.number("global_gbps") * 1e9,
                                       "group " + std::to_string(a) + ">" + std::to_string(b)));
    }
  }

  FabricWay way(NicAt from, NicAt to) const override {
    FabricWay way{{}, 0, no_cap};
    const int from_router = from.node / nodes_per_router_;
    const int to_router = to.node / nodes_per_router_;
    const int a = from_router / routers_;
    const int b = to_router / routers_;
    if (a == b) {
      cross_group(way, a, from_router % routers_, to_router % routers_);
    } else {
      cross_group(way, a, from_router % routers_, gateway(a, b));
      way.links.push_back(global_[static_cast<std::size_t>(a) * static_cast<std::size_t>(groups_) +
                                  static_cast<std::size_t>(b)]);
      way.latency_s += hop_s_;
      cross_group(way, b, gateway(b, a), to_router % routers_);
    }
    return way;
  }

 private:
  int gateway(int group, int other) const {
    return ((other - group - 1 + groups_) % groups_) % routers_;
  }

  void cross_group(FabricWay& way, int group, int from, int to) const {
    if (from == to) return;
    way.links.push_back(
        local_[static_cast<std::size_t>((group * routers_ + from) * routers_ + to)]);
    way.latency_s += hop_s_;
  }

  const int nodes_per_router_;
  const int routers_;
  const int groups_;
  const double hop_s_;
  std::vector<int> local_;   // by group, from, to
  std::vector<int> global_;  // by group from, to
};

class ListedFabric final : public Fabric {
 public:
  ListedFabric(const models::Machine& machine, const AddLink& add)
      : shape_(machine.shape), name_(machine.name) {
    for (const models::FabricShape::Link& link : shape_.links)
      numbers_.push_back(link.per_flow ? -1 : add(link.gbps.value * 1e9, link.name));
    for (const models::FabricShape::Route& route : shape_.routes)
      routes_[{route.from, route.to}] = &route;
  }

  FabricWay way(NicAt from, NicAt to) const override {
    const auto found = routes_.find({from.node, to.node});
    if (found == routes_.end()) {
      throw UsageError("machine " + name_ + ": no route joins node " + std::to_string(from.node) +
                       " to node " + std::to_string(to.node) +
                       "; a fabric with one for each pair in use is accepted");
    }
    FabricWay way{{}, 0, no_cap};
    for (const int link : found->second->links) {
      const auto at = static_cast<std::size_t>(link);
      way.latency_s += shape_.links[at].latency_us.value * 1e-6;
      if (numbers_[at] >= 0) {
        way.links.push_back(numbers_[at]);
      } else {
        way.rate_cap_bytes_per_s =
            std::min(way.rate_cap_bytes_per_s, shape_.links[at].gbps.value * 1e9);
      }
    }
    return way;
  }

 private:
  const models::FabricShape& shape_;
  const std::string name_;
  std::vector<int> numbers_;  // of shape_.links; -1 where it caps each flow alone
  std::map<std::pair<int, int>, const models::FabricShape::Route*> routes_;
};

}  // namespace

std::unique_ptr<Fabric> make_fabric(const models::Machine& machine, const Fabric::AddLink& add) {
  if (machine.fabric == "dragonfly") return std::make_unique<DragonflyFabric>(machine, add);
  if (machine.fabric == "grid") return std::make_unique<GridFabric>(machine, add);
  if (machine.fabric == "routes") return std::make_unique<ListedFabric>(machine, add);
  return std::make_unique<TreeFabric>(machine, add);
}

}  // namespace sym::sim
