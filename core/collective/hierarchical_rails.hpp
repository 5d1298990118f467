// all_reduce in two levels, as all_reduce_hierarchical, with few hops on the rails: for so many
// nodes that the latency of a ring's 2(N-1) steps counts.
#pragma once

#include "core/collective/apart.hpp"
#include "core/collective/double_tree.hpp"
#include "core/collective/halving_doubling.hpp"
#include "core/collective/levels.hpp"

namespace sym {

// Elements of the `work` of all_reduce_hierarchical_tree for n elements on a grid of `blocks`.
template <class T>
SYM_HD constexpr std::size_t hierarchical_tree_work(std::size_t n, int blocks) {
  return 2 * n + static_cast<std::size_t>(blocks) * 2 * granule<T>;
}

namespace detail {

// What happens on a rail, in place, to one range of `out`.
template <class T, class Op>
struct HalvingRail {
  Window<T> work;
  Op op;
  SYM_HD constexpr Extent<Window<T>> room(std::size_t n, int nodes, int blocks) const {
    return {work, halving_room<T>(n, nodes, blocks)};
  }
  template <Block B>
  SYM_FN void greet(B& block, const Group& rail) const {
    greet_partners(block, rail);
  }
  template <Block B>
  SYM_FN bool run(B& block, const Group& rail, Window<T> out, Range mine) const {
    const std::size_t room = halving_room<T>(mine.first, rail.team.size(), block.index());
    return halving_doubling(block, rail, Halving<T>{out, work.at(room), out, mine}, op);
  }
};
template <class T, class Op>
struct TreeRail {
  Window<T> work;
  int pieces;
  Op op;
  SYM_HD constexpr Extent<Window<T>> room(std::size_t n, int, int blocks) const {
    return {work, hierarchical_tree_work<T>(n, blocks)};
  }
  template <Block B>
  SYM_FN void greet(B& block, const Group& rail) const {
    greet_children(block, rail);
  }
  template <Block B>
  SYM_FN bool run(B& block, const Group& rail, Window<T> out, Range mine) const {
    const std::size_t room = hierarchical_tree_work<T>(mine.first, block.index());
    DoubleTree<T> all{out, work.at(room), out, {}, {}, pieces};
    for (int tree = 0; tree < 2; ++tree) {
      all.uses[tree] = uses_tree(block, tree);
      if (block.count() == 1)
        all.halves[tree] = chunk(mine, tree, 2, granule<T>);
      else if (all.uses[tree])
        all.halves[tree] = mine;
    }
    return double_tree(block, rail, all, op);
  }
};

// What happens inside a node: sums from its PEs, and the result to them.
struct PlainNode {
  template <Block B, class T, class Op>
  SYM_FN void reduce(B& block, const Levels& at, Window<T> in, Window<T> out, Range mine,
                     Op op) const {
    block.reduce(out, in, mine, at.node.team, op);
  }
  template <Block B, class T>
  SYM_FN void spread(B& block, const Levels& at, Window<T> out, Range mine) const {
    const int per_node = at.node.team.size();
    for (int hop = 1; hop < per_node; ++hop)
      block.put(out, out, mine, at.node.team.pe((at.place + hop) % per_node));
  }
};

// Each PE reduces its share from the peers of its node, does with it on its rail what `rail` says,
// and puts the result to its node.
template <Block B, class T, class Op, class Rail, class Node = PlainNode>
SYM_FN void all_reduce_with(B& block, const Group& group, Window<T> in, Window<T> out,
                            std::size_t n, Op op, int per_node, const Rail& rail,
                            const Node& inside = {}) {
  const Extent all{in, n}, result{out, n};
  if (!apart(block, all, result) || !in_levels(block, group, per_node)) return;
  const Levels at = levels_of(group, per_node);
  const auto room = rail.room(n, at.nodes, block.count());
  if (at.nodes > 1 && !work_is_apart(block, all, room, result)) return;
  const Range share = chunk(Range{0, n}, at.place, per_node, granule<T>);
  const Range mine = chunk(share, block.index(), block.count(), granule<T>);
  rail.greet(block, at.rail);  // the rail may write here: told before anyone is waited for
  if (!barrier(block, at.node)) return;  // the node's inputs are ready, its outputs may be written
  if (at.nodes == 1)
    inside.reduce(block, at, in, out, mine, op);
  else
    inside.reduce(block, at, in, out, mine, inside_nodes(op));
  if (at.nodes > 1 && !rail.run(block, at.rail, out, mine)) return;
  inside.spread(block, at, out, mine);
  barrier(block, at.node);  // every share has arrived, and every peer has read this PE's input
}

}  // namespace detail

// With halving and doubling on the rails: 2 log2(N) steps. In rank order inside a node, rounded to
// T, then along one tree over the nodes, rounded at each step: the same bits on all PEs, for any n
// and grid. For Avg the sum is divided once, at the end. A node is `per_node` consecutive ranks of
// the team, whose size must be a multiple of it. `work` (halving_work elements for the number of
// nodes, symmetric), `in` and `out` must not overlap.
template <Block B, class T, class Op>
SYM_FN void all_reduce_hierarchical_hd(B& block, const Group& group, Window<T> in, Window<T> work,
                                       Window<T> out, std::size_t n, Op op, int per_node) {
  detail::all_reduce_with(
      block, group, in, out, n, op, per_node,
      detail::HalvingRail<T, detail::OnRails<Op>>{work, detail::on_rails(op, per_node)});
}

// With two trees on the rails: about 2 log2(N) hops for each of the `pieces`. In rank
// order inside a node, rounded to T, then along the tree of the element's block, rounded at each
// node: the same bits on all PEs, for a given number of elements, PEs, PEs a node and
// blocks. `work` (hierarchical_tree_work elements, symmetric), `in` and `out` must not overlap.
template <Block B, class T, class Op>
SYM_FN void all_reduce_hierarchical_tree(B& block, const Group& group, Window<T> in, Window<T> work,
                                         Window<T> out, std::size_t n, Op op, int per_node,
                                         int pieces) {
  if (!is_in_pieces(block, pieces)) return;
  detail::all_reduce_with(
      block, group, in, out, n, op, per_node,
      detail::TreeRail<T, detail::OnRails<Op>>{work, pieces, detail::on_rails(op, per_node)});
}

}  // namespace sym
