// reduce_scatter: out[i] = op over the team of in[rank*n + i], n elements a member.
//
// Called by every block of a launch on every member, with equal n, op and grid.
#pragma once

#include "core/collective/apart.hpp"
#include "core/collective/barrier.hpp"
#include "core/collective/ring.hpp"
#include "core/collective/rounds.hpp"

namespace sym {

// Every PE reads its share from every peer. Rank order 0..P-1, one rounding: the same bits for any
// grid.
template <Block B, class T, Operand Out, class Op>
SYM_FN void reduce_scatter_direct(B& block, const Group& group, Window<T> in, Out out,
                                  std::size_t n, Op op) {
  const Window<T> own = in.at(static_cast<std::size_t>(group.team.rank()) * n);
  const Extent all{in, static_cast<std::size_t>(group.team.size()) * n};
  if (!apart(block, all, Extent{out, n})) return;
  if (!barrier(block, group)) return;  // inputs are ready
  block.reduce(out, own, rows_of<T>(block, n)(0), group.team, op);
  barrier(block, group);  // inputs have been read
}

// Every PE sends each peer its share in packets and reduces what comes: one hop, no barrier, 4/3 to
// 2 (P-1) n elements each way, flags included. In rounds of what the channel's inbox holds, which
// must not be nothing (ChannelRequest::packet_bytes). Rank order, one rounding: the same bits as
// direct. `out` may be the rank's own place in `in`.
template <Block B, Operand In, Operand Out, class Op>
SYM_FN void reduce_scatter_one_shot(B& block, const Group& group, In in, Out out, std::size_t n,
                                    Op op) {
  const Packets& inbox = group.channel.inbox;
  const std::size_t slot = static_cast<std::size_t>(block.index());
  const auto shares = per_member(in, n);
  const In own = shares.of(group.team.rank());
  const Extent all{in, static_cast<std::size_t>(group.team.size()) * n};
  if (!apart_or_in_place(block, Extent{out, n}, Extent{own, n}, all)) return;
  const auto rounds = rounds_of<typename In::value_type>(block, group, n);
  for (Range piece = rounds.first(); !piece.empty(); piece = rounds.after(piece)) {
    block.put_packets(inbox, slot, shares, piece, group.team);
    if (!block.reduce_packets(out, own, piece, inbox, slot, group.team, op)) return;
  }
  block.quiet();  // `in` has been sent
}

// Every PE puts each peer's share to a slot there, in `pieces` (at least 1, equal on all members),
// and reduces the pieces of its own as they come. Pushing both ways is faster than pulling. Order
// and bits of `direct`. `work` is symmetric, size*n elements, and must not overlap `in` or `out`,
// nor those each other. Blocks are of detail::hop_kinds kinds: odd ones are half a piece ahead, so
// that some put while others reduce.
template <Block B, class T, Operand In, Operand Out, class Op>
SYM_FN void reduce_scatter_push(B& block, const Group& group, In in, Window<T> work, Out out,
                                std::size_t n, Op op, int pieces) {
  const Team& team = group.team;
  const Signals& steps = group.channel.steps;
  const std::size_t slot = static_cast<std::size_t>(block.index());
  const auto slots = per_member(work, n);
  const std::size_t size = static_cast<std::size_t>(team.size()) * n;
  const Extent all{in, size}, slot_room{work, size}, result{out, n};
  if (!apart(block, all, result) || !work_is_apart(block, all, slot_room, result)) return;
  if (!is_in_pieces(block, pieces)) return;
  const Pieces<T> halves(rows_of<T>(block, n)(0), 2 * pieces);
  const int ahead = block.index() % detail::hop_kinds;  // halves of a piece
  const int cuts = pieces + ahead;
  const auto end_of = [&](int index) {
    const int half = 2 * index + 2 - ahead;
    return halves.begin(half < 2 * pieces ? half : 2 * pieces);
  };
  Range before{halves.begin(0), 0};
  if (!barrier(block, group)) return;  // slots may be written
  for (int index = 0; index <= cuts; ++index) {
    const Range piece{before.end(), end_of(index) - before.end()};
    for (int hop = 1; hop < team.size() && index < cuts; ++hop) {
      const int rank = (team.rank() + hop) % team.size();
      block.fence(team.pe(rank));  // so that the k-th signal says that the k-th piece is there
      block.put_signal(slots.of(team.rank()), in.at(static_cast<std::size_t>(rank) * n), piece,
                       steps, slot, team.pe(rank));
    }
    if (index > 0) {  // the piece before is reduced while this one is under way
      if (!block.wait_until(steps, slot, team)) return;
      block.reduce_slots(out, in.at(static_cast<std::size_t>(team.rank()) * n), slots, before, team,
                         op);
    }
    before = piece;
  }
  block.quiet();  // `in` is the caller's again
}

// On a ring, P-1 steps, through `work` (size*n elements, symmetric, apart from `in`, and from
// `out`, which may be this rank's place in it). Order
// rank+1, ..., rank, rounded to T at each hop.
template <Block B, class T, Operand In, Operand Out, class Op>
SYM_FN void reduce_scatter_ring(B& block, const Group& group, In in, Window<T> work, Out out,
                                std::size_t n, Op op) {
  const Window<T> own = work.at(static_cast<std::size_t>(group.team.rank()) * n);
  const Rows<T> rows = rows_of<T>(block, n);
  const std::size_t size = static_cast<std::size_t>(group.team.size()) * n;
  const Extent room{work, size}, place{own, n};
  const Extent result{out, n};
  if (!work_is_apart(block, Extent{in, size}, room, Extent{work, 0})) return;
  if (!block.require(are_same(result, place) || are_apart(result, room),
                     "the output of a collective is its place in the work memory, or apart from it",
                     n, size))
    return;
  if (!barrier(block, group)) return;  // work may be written
  if (!ring_reduce_scatter(block, group, in, work, rows, op)) return;
  block.transform(out, rows(0), detail::Identity{}, own);
  barrier(block, group);  // this PE's last put has arrived
}

}  // namespace sym
