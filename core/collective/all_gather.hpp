// all_gather: out[r*n + i] = in[i] of rank r, on every member.
//
// Called by every block of a launch on every member, with equal n and grid. No arithmetic: the same
// bits everywhere.
#pragma once

#include "core/collective/apart.hpp"
#include "core/collective/barrier.hpp"
#include "core/collective/ring.hpp"
#include "core/collective/rounds.hpp"

namespace sym {

// Every PE puts its input to every peer: one hop, (P-1) n elements each way. `in` is a window or
// local; it may be the rank's own place in `out`. Blocks are of detail::hop_kinds kinds.
template <Block B, class T, Operand In>
SYM_FN void all_gather_direct(B& block, const Group& group, In in, Window<T> out, std::size_t n) {
  const Team& team = group.team;
  const Range mine = rows_of<T>(block, n)(0);
  const Window<T> place = out.at(static_cast<std::size_t>(team.rank()) * n);
  const Extent all{out, static_cast<std::size_t>(team.size()) * n};
  if (!apart_or_in_place(block, Extent{in, n}, Extent{place, n}, all)) return;
  if (!barrier(block, group)) return;  // outputs may be written
  for (int i = 0; i < team.size(); ++i) {
    const int hop = detail::hop_of(block, i, team.size());
    if (hop == 0) {
      block.transform(place, mine, detail::Identity{}, in);
    } else {
      block.put(place, in, mine, team.pe((team.rank() + hop) % team.size()));
    }
  }
  barrier(block, group);  // every part has arrived
}

// Every PE sends its input to every peer in packets: one hop, no barrier, 4/3 to 2 (P-1) n elements
// each way, flags included. In rounds of what the channel's inbox holds, which must not be nothing
// (ChannelRequest::packet_bytes). `in` may be the rank's own place in `out`.
template <Block B, Operand In, Operand Out>
SYM_FN void all_gather_one_shot(B& block, const Group& group, In in, Out out, std::size_t n) {
  const Out place = out.at(static_cast<std::size_t>(group.team.rank()) * n);
  const Extent all{out, static_cast<std::size_t>(group.team.size()) * n};
  if (!apart_or_in_place(block, Extent{in, n}, Extent{place, n}, all)) return;
  const Packets& inbox = group.channel.inbox;
  const std::size_t slot = static_cast<std::size_t>(block.index());
  const auto rounds = rounds_of<typename In::value_type>(block, group, n);
  for (Range piece = rounds.first(); !piece.empty(); piece = rounds.after(piece)) {
    block.put_packets(inbox, slot, in, piece, group.team);
    block.quiet();  // the piece of `in` has been sent: it may be written again, where it lies in
                    // `out`
    if (!block.receive_packets(per_member(out, n), in, piece, inbox, slot, group.team)) return;
  }
}

// The same on a ring: each PE passes on what it received, P-1 steps, neighbours only.
template <Block B, class T, Operand In>
SYM_FN void all_gather_ring(B& block, const Group& group, In in, Window<T> out, std::size_t n) {
  const Rows<T> rows = rows_of<T>(block, n);
  const Window<T> place = out.at(static_cast<std::size_t>(group.team.rank()) * n);
  const Extent all{out, static_cast<std::size_t>(group.team.size()) * n};
  if (!apart_or_in_place(block, Extent{in, n}, Extent{place, n}, all)) return;
  if (!barrier(block, group)) return;
  block.transform(place, rows(0), detail::Identity{}, in);
  if (!ring_all_gather(block, group, out, rows)) return;
  barrier(block, group);
}

}  // namespace sym
