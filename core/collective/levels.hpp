// A team in two levels: nodes of `per_node` consecutive ranks, and rails, which join the PEs of the
// same place in each node.
#pragma once

#include "core/block.hpp"

namespace sym {

// Where this PE stands in both.
struct Levels {
  int place = 0;  // in its node
  int here = 0;   // its node
  int nodes = 1;
  Group node, rail;
};

// Fails the block, with this sentence, where the team is no number of whole nodes. Algorithms then
// return: no transfer of theirs would be delivered.
template <Block B>
SYM_FN bool in_levels(B& block, const Group& group, int per_node) {
  const int size = group.team.size();
  return block.require(per_node >= 1 && size % per_node == 0,
                       "the size of the team is a multiple of the PEs of a node",
                       static_cast<std::uint64_t>(size), static_cast<std::uint64_t>(per_node));
}

// Requires that `per_node` divides the team's size.
SYM_HD constexpr Levels levels_of(const Group& group, int per_node) {
  const Team& team = group.team;
  const int place = team.rank() % per_node;
  const int nodes = team.size() / per_node;
  return Levels{place, team.rank() / per_node, nodes,
                Group{group.channel, team.slice(team.rank() - place, 1, per_node)},
                Group{group.channel, team.slice(place, per_node, nodes)}};
}

}  // namespace sym
