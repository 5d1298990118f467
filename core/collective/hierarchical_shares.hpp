// all_gather and reduce_scatter in two levels: inside nodes over their fast links, between them on
// rails, and both at a time. Between N nodes (N-1)/N of the bytes go through each NIC's rail,
// always to the PE of the same place. A node is `per_node` consecutive ranks of the team, whose
// size must be a multiple of it.
//
// Hierarchical in the sense of Karonis et al. (2000); on rails as NCCL and MSCCL++ do.
#pragma once

#include "core/collective/apart.hpp"
#include "core/collective/barrier.hpp"
#include "core/collective/levels.hpp"
#include "core/collective/share.hpp"

namespace sym {

namespace detail {
// The range of `parts` that belongs to the rail's member on `node`; nodes count modulo their
// number.
template <class T>
SYM_HD constexpr Range row_of_node(const Levels& at, const Rows<T>& rows, int per_node, int node) {
  return rows((node + 2 * at.nodes) % at.nodes * per_node + at.place);
}
}  // namespace detail

// out[r*n + i] = in[i] of rank r. Each PE passes what comes along its rail on to the next node and
// to its own node's PEs. `in` is a window or local; it may be the rank's own place in `out`.
template <Block B, class T, Operand In>
SYM_FN void all_gather_hierarchical(B& block, const Group& group, In in, Window<T> out,
                                    std::size_t n, int per_node) {
  const Window<T> place = out.at(static_cast<std::size_t>(group.team.rank()) * n);
  const Extent all{out, static_cast<std::size_t>(group.team.size()) * n};
  if (!apart_or_in_place(block, Extent{in, n}, Extent{place, n}, all)) return;
  if (!in_levels(block, group, per_node)) return;
  const Levels at = levels_of(group, per_node);
  const Signals& steps = group.channel.steps;
  const std::size_t slot = static_cast<std::size_t>(block.index());
  const Rows<T> rows = rows_of<T>(block, n);
  const Team& rail = at.rail.team;
  const int next = rail.pe(rail.next());
  // The predecessor on the rail may write to `out`: it is told before anyone is waited for.
  if (at.nodes > 1) block.signal(steps, slot, rail.pe(rail.previous()));
  if (!barrier(block, at.node)) return;  // outputs of the node may be written
  const std::size_t self = static_cast<std::size_t>(group.team.rank()) * n;
  block.transform(out.at(self), rows(0), detail::Identity{}, in);
  if (at.nodes > 1 && !block.wait_until(steps, slot, rail.only(rail.next()))) return;
  for (int step = 0; step < at.nodes; ++step) {
    const Range row = detail::row_of_node(at, rows, per_node, at.here - step);
    if (step > 0 && !block.wait_until(steps, slot, rail.only(rail.previous()))) return;
    if (step + 1 < at.nodes) {  // first the slower way
      block.fence(next);        // so that the k-th signal says that the k-th row is there
      block.put_signal(out, out, row, steps, slot, next);
    }
    for (int hop = 1; hop < per_node; ++hop) {
      block.put(out, out, row, at.node.team.pe((at.place + hop) % per_node));
    }
  }
  barrier(block, at.node);  // the node's rows have arrived
}

// out[i] = op over the team of in[rank*n + i]. Each PE reduces its place's row of a node from its
// own node's PEs while the row before it is on its way along the rail. In rank order inside a node,
// rounded to T; then nodes in the order node+1, node+2, ..., node, rounded to T at each: for a
// given number of PEs and of PEs a node the same bits, for any grid. For Avg the sum is divided
// once, at the end. `work` (n elements for each node, symmetric) must overlap neither `in` nor
// `out`.
template <Block B, class T, Operand Out, class Op>
SYM_FN void reduce_scatter_hierarchical(B& block, const Group& group, Window<T> in, Window<T> work,
                                        Out out, std::size_t n, Op op, int per_node) {
  const std::size_t size = static_cast<std::size_t>(group.team.size()) * n;
  const Extent all{in, size};
  const Extent result{out, n};
  if (!apart(block, all, result) || !in_levels(block, group, per_node)) return;
  const Levels at = levels_of(group, per_node);
  const Extent room{work, static_cast<std::size_t>(at.nodes) * n};
  if (at.nodes > 1 && !work_is_apart(block, all, room, result)) return;
  const Signals& steps = group.channel.steps;
  const std::size_t slot = static_cast<std::size_t>(block.index());
  const auto inside = detail::inside_nodes(op);
  const Range mine = rows_of<T>(block, n)(0);
  const Team& rail = at.rail.team;
  const int next = rail.pe(rail.next());
  const auto node_of = [&](int step) { return (at.here - step + 2 * at.nodes) % at.nodes; };
  const auto received = [&](int node) { return work.at(static_cast<std::size_t>(node) * n); };
  const auto wanted = [&](int node) {  // what the PE of this place in `node` shall have
    return in.at(static_cast<std::size_t>(node * per_node + at.place) * n);
  };
  if (at.nodes > 1) block.signal(steps, slot, rail.pe(rail.previous()));  // `work` may be written
  if (!barrier(block, at.node)) return;                                   // inputs are ready
  if (at.nodes == 1) {
    block.reduce(out, wanted(0), mine, at.node.team, op);
  } else {
    block.reduce(received(node_of(1)), wanted(node_of(1)), mine, at.node.team, inside);
    if (!block.wait_until(steps, slot, rail.only(rail.next()))) return;
  }
  for (int step = 1; step < at.nodes; ++step) {
    const Window<T> outgoing = received(node_of(step)), incoming = received(node_of(step + 1));
    block.fence(next);  // so that the k-th signal says that the k-th row is there
    block.put_signal(outgoing, outgoing, mine, steps, slot, next);
    block.reduce(out, wanted(node_of(step + 1)), mine, at.node.team, inside);
    if (!block.wait_until(steps, slot, rail.only(rail.previous()))) return;
    if (step + 1 < at.nodes) {
      block.transform(incoming, mine, detail::Combine<detail::InsideNodes<Op>>{inside}, incoming,
                      out);
    } else {
      block.transform(out, mine,
                      detail::Finish<detail::OnRails<Op>>{detail::on_rails(op, per_node), at.nodes},
                      incoming, out);
    }
  }
  barrier(block, at.node);  // inputs have been read
}

}  // namespace sym
