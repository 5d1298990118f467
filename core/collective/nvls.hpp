// Collectives through switches that store to all and reduce what they load from all: "NVLS", as
// NCCL calls it (NVLink SHARP; Klenk et al., 2020). For a MulticastBlock.
//
// Called by every block of a launch on every member, with equal n, op and grid. Each sum is made
// once, in the switch's order, and everybody gets that: the same bits on all PEs. Which bits is the
// switch's business; backends on hosts take rank order and round once.
#pragma once

#include "core/collective/apart.hpp"
#include "core/collective/barrier.hpp"
#include "core/collective/hierarchical_rails.hpp"
#include "core/collective/share.hpp"
#include "core/multicast.hpp"

namespace sym {

// Each PE loads its share reduced and stores it to all: of P PEs, each port sends every element
// once for the sums and one P-th of them as results, and receives every result once and one P-th
// again: (P+1)/P of the bytes each way. `in` and `out` may be the same window.
template <MulticastBlock B, class T, class Op>
SYM_FN void all_reduce_nvls(B& block, const Group& group, Window<T> in, Window<T> out,
                            std::size_t n, Op op) {
  if (!apart_or_in_place(block, Extent{in, n}, Extent{out, n})) return;
  const Team& team = group.team;
  const Range mine = shares_of<T>(block, n, team)(team.rank());
  if (!barrier(block, group)) return;  // inputs are ready, outputs may be written
  block.reduce(multicast(out, team), multicast(in, team), mine, op);
  barrier(block, group);  // every share has arrived
}

// Each PE stores its input to all: n elements out of a port, P n into it. `in` is a window or
// local; it may be the rank's own place in `out`.
template <MulticastBlock B, class T, Operand In>
SYM_FN void all_gather_nvls(B& block, const Group& group, In in, Window<T> out, std::size_t n) {
  const Team& team = group.team;
  const Window<T> place = out.at(static_cast<std::size_t>(team.rank()) * n);
  const Extent all{out, static_cast<std::size_t>(team.size()) * n};
  if (!apart_or_in_place(block, Extent{in, n}, Extent{place, n}, all)) return;
  if (!barrier(block, group)) return;  // outputs may be written
  block.put(multicast(place, team), in, rows_of<T>(block, n)(0));
  barrier(block, group);  // every part has arrived
}

// Each PE loads its share reduced: P n elements out of a port, n into it.
template <MulticastBlock B, class T, Operand Out, class Op>
SYM_FN void reduce_scatter_nvls(B& block, const Group& group, Window<T> in, Out out, std::size_t n,
                                Op op) {
  const Window<T> own = in.at(static_cast<std::size_t>(group.team.rank()) * n);
  const Extent all{in, static_cast<std::size_t>(group.team.size()) * n};
  if (!apart(block, all, Extent{out, n})) return;
  if (!barrier(block, group)) return;  // inputs are ready
  block.reduce(out, multicast(own, group.team), rows_of<T>(block, n)(0), op);
  barrier(block, group);  // inputs have been read
}

namespace detail {
struct MulticastNode {
  template <Block B, class T, class Op>
  SYM_FN void reduce(B& block, const Levels& at, Window<T> in, Window<T> out, Range mine,
                     Op op) const {
    block.reduce(out, multicast(in, at.node.team), mine, op);
  }
  template <Block B, class T>
  SYM_FN void spread(B& block, const Levels& at, Window<T> out, Range mine) const {
    block.put(multicast(out, at.node.team), out, mine);
  }
};
}  // namespace detail

// all_reduce_hierarchical_tree with multicast inside nodes: each PE loads its share reduced, two
// trees on the rails combine those of the nodes, and each PE stores the result to its node. In a
// node in the switch's order, rounded to T, then along the tree of the element's block, rounded at
// each node. `work` (hierarchical_tree_work elements, symmetric), `in` and `out` must not overlap.
template <MulticastBlock B, class T, class Op>
SYM_FN void all_reduce_nvls_tree(B& block, const Group& group, Window<T> in, Window<T> work,
                                 Window<T> out, std::size_t n, Op op, int per_node, int pieces) {
  if (!is_in_pieces(block, pieces)) return;
  detail::all_reduce_with(
      block, group, in, out, n, op, per_node,
      detail::TreeRail<T, detail::OnRails<Op>>{work, pieces, detail::on_rails(op, per_node)},
      detail::MulticastNode{});
}

}  // namespace sym
