// all_reduce: out = op over the team of in, on every member, element by element.
//
// Called by every block of a launch on every member, with equal n, op and grid. `in` may be
// rewritten and `out` read once the launch has ended. Determinism of each variant: see its comment;
// "same bits everywhere" also means on every backend (docs/guide/numbers.md).
#pragma once

#include "core/collective/apart.hpp"
#include "core/collective/barrier.hpp"
#include "core/collective/ring.hpp"
#include "core/collective/rounds.hpp"

namespace sym {

// Every PE sends its whole input to every peer in packets and reduces what comes: one hop, no
// barrier, P-1 times the bytes (4/3 to 2 of that on the wire). In rounds of what the channel's
// inbox holds, which must not be nothing (ChannelRequest::packet_bytes). Rank order 0..P-1, one
// rounding: the same bits on all PEs, for any grid. `in` and `out` may be the same memory.
template <Block B, Operand In, Operand Out, class Op>
SYM_FN void all_reduce_one_shot(B& block, const Group& group, In in, Out out, std::size_t n,
                                Op op) {
  if (!apart_or_in_place(block, Extent{in, n}, Extent{out, n})) return;
  const Packets& inbox = group.channel.inbox;
  const std::size_t slot = static_cast<std::size_t>(block.index());
  const auto rounds = rounds_of<typename In::value_type>(block, group, n);
  for (Range piece = rounds.first(); !piece.empty(); piece = rounds.after(piece)) {
    block.put_packets(inbox, slot, in, piece, group.team);
    block.quiet();  // the piece of `in` has been sent: `out` may be the same memory
    if (!block.reduce_packets(out, in, piece, inbox, slot, group.team, op)) return;
  }
}

// Every PE reads every peer's whole input: P-1 times the bytes, once on the wire. Rank order
// 0..P-1, one rounding: the same bits as one-shot.
template <Block B, class T, Operand Out, class Op>
SYM_FN void all_reduce_one_shot_read(B& block, const Group& group, Window<T> in, Out out,
                                     std::size_t n, Op op) {
  if (!apart(block, Extent{in, n}, Extent{out, n})) return;
  const Range mine = rows_of<T>(block, n)(0);
  if (!barrier(block, group)) return;  // every peer's input is ready
  block.reduce(out, in, mine, group.team, op);
  barrier(block, group);  // every peer has read this PE's input
}

// Each PE reduces its own share from all peers and puts the result to all: 2(P-1)/P of the bytes
// each way. Rank order 0..P-1, one rounding: the same bits on all PEs, for any grid, and the same
// as one-shot. `in` and `out` may be the same window.
template <Block B, class T, class Op>
SYM_FN void all_reduce_two_shot(B& block, const Group& group, Window<T> in, Window<T> out,
                                std::size_t n, Op op) {
  if (!apart_or_in_place(block, Extent{in, n}, Extent{out, n})) return;
  const Team& team = group.team;
  const Range mine = shares_of<T>(block, n, team)(team.rank());
  if (!barrier(block, group)) return;  // inputs are ready, outputs may be written
  block.reduce(out, in, mine, team, op);
  for (int hop = 1; hop < team.size(); ++hop) {  // staggered: no PE is everyone's target at once
    block.put(out, out, mine, team.pe((team.rank() + hop) % team.size()));
  }
  barrier(block, group);  // every share has arrived
}

// Reduce-scatter and all-gather on a ring: neighbours only, 2(P-1) steps. The share of rank r is
// combined in the order r+1, r+2, ..., r and rounded to T at each hop: the same bits on all PEs,
// for a given number of elements, but others than one-shot's for floating sums. `in` must not
// overlap `out`.
template <Block B, class T, Operand In, class Op>
SYM_FN void all_reduce_ring(B& block, const Group& group, In in, Window<T> out, std::size_t n,
                            Op op) {
  if (!apart(block, Extent{in, n}, Extent{out, n})) return;
  const Shares<T> shares = shares_of<T>(block, n, group.team);
  if (!barrier(block, group)) return;  // outputs may be written
  if (!ring_reduce_scatter(block, group, in, out, shares, op)) return;
  if (!ring_all_gather(block, group, out, shares)) return;
  barrier(block, group);  // this PE's last put has arrived
}

}  // namespace sym
