// FabricShape: what joins the nodes of a machine, apart from its numbers.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "models/quantity.hpp"

namespace sym::models {

// Which members count depends on Machine::fabric:
// - rail: NIC i of every node of a group of `nodes_per_leaf` is on leaf i of that group; leaves
// meet
//   in a spine, or nowhere. fat-tree: all NICs of the group are on one leaf. Uplinks of a leaf and
//   of a pod are each one link of their summed rates, as if traffic spread over them evenly.
// - dragonfly: a node's NICs are on its router; all routers of a group are joined pairwise, and so
//   are all groups. Ways are minimal.
// - grid: coordinates of nodes, the first dimension counts fastest; NIC i of a node is on copy i of
//   the grid. Ways go dimension by dimension, around a ring the shorter way. A torus has rings
//   only.
// - routes: links without ends, and for each pair of nodes the list of links that joins them.
struct FabricShape {
  int nodes_per_leaf = 0;  // 0: all
  int leaves_per_pod = 0;  // leaves (of one rail) whose spine has uplinks to a core; 0: no core
  bool spine = true;       // rail: false: nothing joins the leaves

  int nodes_per_router = 1;
  int routers_per_group = 1;

  struct Dimension {
    std::string form;  // ring | full (pairwise) | switch
    int size = 1;
    Quantity gbps;  // of each link, each way
    Quantity latency_us;
    bool operator==(const Dimension&) const = default;
  };
  std::vector<Dimension> dimensions;

  struct Link {
    std::string name;
    Quantity gbps;
    Quantity latency_us;
    bool per_flow = false;  // every flow gets the whole rate
    bool operator==(const Link&) const = default;
  };
  struct Route {
    int from = 0;  // nodes
    int to = 0;
    std::vector<int> links;
    bool operator==(const Route&) const = default;
  };
  std::vector<Link> links;
  std::vector<Route> routes;

  bool operator==(const FabricShape&) const = default;
};

inline const std::vector<std::string>& fabric_names() {
  static const std::vector<std::string> names = {"none",      "rail", "fat-tree",
                                                 "dragonfly", "grid", "routes"};
  return names;
}

}  // namespace sym::models
