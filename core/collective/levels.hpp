// A team in two levels: nodes of `per_node` consecutive ranks, and rails, which join the PEs of the
// same place in each node.
#pragma once

#include <type_traits>

#include "core/block.hpp"
#include "core/ops.hpp"

namespace sym {

namespace detail {
// An average in two levels: nodes sum, and the last step on a rail divides by all operands.
struct AvgOfSums {
  static constexpr const char* name = Avg::name;
  int operands_of_each;
  template <class A>
  SYM_HD constexpr A combine(A a, A b) const {
    return Sum{}.combine(a, b);
  }
  template <class A>
  SYM_HD constexpr A finish(A total, int sums) const {
    return Avg{}.finish(total, sums * operands_of_each);
  }
};
template <class Op>
using InsideNodes = std::conditional_t<std::is_same_v<Op, Avg>, Sum, Op>;
template <class Op>
using OnRails = std::conditional_t<std::is_same_v<Op, Avg>, AvgOfSums, Op>;

// What an operator is inside nodes whose results are combined on rails, and what it is there.
template <class Op>
SYM_HD constexpr InsideNodes<Op> inside_nodes(Op op) {
  if constexpr (std::is_same_v<Op, Avg>) {
    return Sum{};
  } else {
    return op;
  }
}
template <class Op>
SYM_HD constexpr OnRails<Op> on_rails(Op op, int per_node) {
  if constexpr (std::is_same_v<Op, Avg>) {
    return AvgOfSums{per_node};
  } else {
    return op;
  }
}
}  // namespace detail

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
