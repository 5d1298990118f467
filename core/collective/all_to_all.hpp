// all_to_all: out[r*n + i] = in[rank*n + i] of rank r, on every member.
//
// Called by every block of a launch on every member, with equal n and grid. No arithmetic: the same
// bits everywhere. `in` (size*n elements, a window or local) must not overlap `out`, and may be
// rewritten once the launch has ended.
#pragma once

#include "core/collective/apart.hpp"
#include "core/collective/barrier.hpp"
#include "core/collective/levels.hpp"
#include "core/collective/rounds.hpp"
#include "core/collective/share.hpp"

namespace sym {

// Every PE puts a row to every peer: one hop, (P-1) n elements each way. How many rows are under
// way at a time is the transport's matter. Blocks are of detail::hop_kinds kinds.
template <Block B, class T, Operand In>
SYM_FN void all_to_all_direct(B& block, const Group& group, In in, Window<T> out, std::size_t n) {
  const Team& team = group.team;
  const Range part = rows_of<T>(block, n)(0);
  const std::size_t self = static_cast<std::size_t>(team.rank()) * n;
  const std::size_t size = static_cast<std::size_t>(team.size()) * n;
  if (!apart(block, Extent{in, size}, Extent{out, size})) return;
  if (!barrier(block, group)) return;  // outputs may be written
  for (int i = 0; i < team.size(); ++i) {
    const int hop = detail::hop_of(block, i, team.size());
    const int rank = (team.rank() + hop) % team.size();
    if (hop == 0) {
      block.transform(out.at(self), part, detail::Identity{}, in.at(self));
    } else {
      block.put(out.at(self), in.at(static_cast<std::size_t>(rank) * n), part, team.pe(rank));
    }
  }
  barrier(block, group);  // every row has arrived
}

// Every PE sends a row to every peer in packets: one hop, no barrier, 4/3 to 2 (P-1) n elements
// each way, flags included. In rounds of what the channel's inbox holds, which must not be nothing
// (ChannelRequest::packet_bytes).
template <Block B, Operand In, Operand Out>
SYM_FN void all_to_all_one_shot(B& block, const Group& group, In in, Out out, std::size_t n) {
  const Packets& inbox = group.channel.inbox;
  const std::size_t slot = static_cast<std::size_t>(block.index());
  const auto rows = per_member(in, n);
  const In own = rows.of(group.team.rank());
  const std::size_t size = static_cast<std::size_t>(group.team.size()) * n;
  if (!apart(block, Extent{in, size}, Extent{out, size})) return;
  const auto rounds = rounds_of<typename In::value_type>(block, group, n);
  for (Range piece = rounds.first(); !piece.empty(); piece = rounds.after(piece)) {
    block.put_packets(inbox, slot, rows, piece, group.team);
    if (!block.receive_packets(per_member(out, n), own, piece, inbox, slot, group.team)) return;
  }
  block.quiet();  // `in` has been sent
}

namespace detail {
// What a block carries in two hops. Blocks are dealt to distances between nodes, so that a row for
// another node is whole and the rows of a node go on in one put; where blocks outnumber the
// distances, several share one and each takes a part of every row.
struct TwoHopBlock {
  int first, step;  // distances first, first + step, ... below the number of nodes
  Range part;
  bool whole;
};
template <class T, Block B>
SYM_FN TwoHopBlock two_hop_block(const B& block, int nodes, std::size_t n) {
  const int first = block.index() % nodes;
  const int sharers = (block.count() - 1 - first) / nodes + 1;
  return {first, block.count(), chunk(Range{0, n}, block.index() / nodes, sharers, granule<T>),
          sharers == 1};
}
}  // namespace detail

// On machines with rails: each PE first gives its rows for place j of every node to the PE of place
// j in its own node, over the fast links; that PE sends on, along its rail, what its node has for
// each other: one put of per_node rows in place of per_node^2 to other rails. Inside the node all
// size*n elements move, between nodes those that must. A node is `per_node` consecutive ranks.
// `work` (size*n elements, symmetric) must overlap neither `in` nor `out`. (Rails in this way: PXN
// of NCCL 2.12.)
template <Block B, class T, Operand In>
SYM_FN void all_to_all_two_hop(B& block, const Group& group, In in, Window<T> work, Window<T> out,
                               std::size_t n, int per_node) {
  const std::size_t size = static_cast<std::size_t>(group.team.size()) * n;
  const Extent all{in, size}, sent_on{work, size}, result{out, size};
  if (!apart(block, all, result) || !work_is_apart(block, all, sent_on, result)) return;
  if (!in_levels(block, group, per_node)) return;
  const Levels at = levels_of(group, per_node);
  const detail::TwoHopBlock mine = detail::two_hop_block<T>(block, at.nodes, n);
  const std::size_t slot = static_cast<std::size_t>(block.index());
  const auto row = [&](int node, int place) {
    return static_cast<std::size_t>(node * per_node + place) * n;
  };
  block.signal(group.channel.steps, slot, at.rail.team);  // `out` may be written from the rail
  if (!barrier(block, at.node)) return;                   // and `work` and `out` from the node
  for (int hop = 0; hop < per_node; ++hop) {
    const int place = (at.place + hop) % per_node;
    for (int distance = mine.first; distance < at.nodes; distance += mine.step) {
      const int to = (at.here + distance) % at.nodes;
      // work[node, place] at (here, j): the row of (here, place) for (node, j).
      block.put((distance == 0 ? out : work).at(row(to, at.place)), in.at(row(to, place)),
                mine.part, at.node.team.pe(place));
    }
  }
  if (!barrier(block, at.node)) return;  // the rows that this PE sends on are there
  if (!block.wait_until(group.channel.steps, slot, at.rail.team)) return;
  for (int distance = mine.first; distance < at.nodes; distance += mine.step) {
    const int to = (at.here + distance) % at.nodes;
    if (distance == 0) continue;
    const Range rows = mine.whole ? Range{0, static_cast<std::size_t>(per_node) * n} : mine.part;
    for (int place = 0; place < (mine.whole ? 1 : per_node); ++place) {
      block.put(out.at(row(at.here, place)), work.at(row(to, place)), rows, at.rail.team.pe(to));
    }
  }
  barrier(block, at.rail);  // the rail's rows have arrived
}

}  // namespace sym
