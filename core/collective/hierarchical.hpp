// all_reduce in two levels: inside nodes over their fast links, between them on rails.
#pragma once

#include "core/collective/apart.hpp"
#include "core/collective/barrier.hpp"
#include "core/collective/levels.hpp"
#include "core/collective/ring.hpp"

namespace sym {

namespace detail {
// A block's part of one PE's share of a node, cut for the PEs of its rail.
template <class T>
struct RailParts {
  Range part;
  int nodes = 1;
  SYM_HD constexpr Range operator()(int rank) const { return chunk(part, rank, nodes, granule<T>); }
};
}  // namespace detail

// Each PE reduces its share of the elements from the peers of its node, all-reduces it on a ring
// with the PEs of the same place in the other nodes (its rail), and puts the result to its node:
// 2(g-1)/g of the bytes each way inside a node, 2(N-1)/N of one g-th between N nodes of g PEs, and
// only ever to the PE of the same place. A node is `per_node` consecutive ranks of the team, whose
// size must be a multiple of it. In rank order inside a node, rounded to T; then in the order of
// the ring, rounded at each hop: the same bits on all PEs, for a given grid. For Avg the
// sum is divided once, at the end. `work` (n elements, of this PE alone) must overlap neither `in`
// nor `out`, nor those each other.
template <Block B, class T, Operand Work, class Op>
SYM_FN void all_reduce_hierarchical(B& block, const Group& group, Window<T> in, Work work,
                                    Window<T> out, std::size_t n, Op op, int per_node) {
  const Extent all{in, n}, reduced{work, n}, result{out, n};
  if (!apart(block, all, result) || !work_is_apart(block, all, reduced, result)) return;
  const auto [place, here, nodes, node, rail] = levels_of(group, per_node);
  const Range share = chunk(Range{0, n}, place, per_node, granule<T>);
  const detail::RailParts<T> parts{chunk(share, block.index(), block.count(), granule<T>), nodes};
  const Range mine = parts.part;
  const Signals& steps = group.channel.steps;
  const std::size_t slot = static_cast<std::size_t>(block.index());
  // The predecessor on the rail may write to `out`: it is told before anyone is waited for.
  if (nodes > 1) block.signal(steps, slot, rail.team.pe(rail.team.previous()));
  if (!barrier(block, node)) return;  // the node's inputs are ready, its outputs may be written
  block.reduce(work, in, mine, node.team, detail::inside_nodes(op));
  if (nodes > 1 && !block.wait_until(steps, slot, rail.team.only(rail.team.next()))) return;
  if (!ring_reduce_scatter(block, rail, work, out, parts, detail::on_rails(op, per_node))) return;
  if (!ring_all_gather(block, rail, out, parts)) return;
  for (int hop = 1; hop < per_node; ++hop) {
    block.put(out, out, mine, node.team.pe((place + hop) % per_node));
  }
  barrier(block, node);  // every share has arrived, and every peer has read this PE's input
}

}  // namespace sym
