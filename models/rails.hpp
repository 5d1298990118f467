// What all-reducing a PE's share over nodes takes, by closed forms: which way the variants in two
// levels go on their rails.
#pragma once

#include <string>
#include <vector>

#include "models/machine.hpp"

namespace sym::models {

// What `hierarchical` of all_reduce stands for is the one of the others that takes least.
inline constexpr const char* in_levels_variant = "hierarchical";
inline constexpr const char* levels_on_a_ring = "hierarchical_ring";
inline constexpr const char* levels_by_halving = "hierarchical_hd";
inline constexpr const char* levels_on_trees = "hierarchical_tree";

struct RailTime {
  std::string variant;
  double us = 0;
};

// The least first. Without halving and doubling where the nodes are no power of two: to fold the
// others costs a message more each way. Empty for one node, and on machines without NICs.
std::vector<RailTime> rail_times(const Machine& machine, int nodes, double share_bytes);

}  // namespace sym::models
