// broadcast: out[i] = in[i] of the root, on every member. `root` is a rank; `in` is read there
// alone.
//
// Called by every block of a launch on every member, with equal n, root and grid. No arithmetic.
#pragma once

#include "core/collective/apart.hpp"
#include "core/collective/barrier.hpp"
#include "core/collective/rounds.hpp"
#include "core/collective/share.hpp"

namespace sym {

namespace detail {
// The root is a rank. `in` is read on the root alone, and may be `out` there. Where it overlaps
// `out` in part, the root alone can refuse: on the others `in` may be anything, and they wait for
// the root until their waits expire.
template <Block B, Operand In, Operand Out>
SYM_FN bool root_is_apart(B& block, const Team& team, const Extent<In>& in, const Extent<Out>& out,
                          int root) {
  return block.require(root >= 0 && root < team.size(), "the root of a broadcast is a rank",
                       static_cast<std::uint64_t>(root), static_cast<std::uint64_t>(team.size())) &&
         (team.rank() != root || apart_or_in_place(block, in, out));
}
}  // namespace detail

// The root sends its input to every peer in packets: one hop, no barrier, 4/3 to 2 (P-1) n elements
// out of the root, flags included. In rounds of what the channel's inbox holds, which must not be
// nothing (ChannelRequest::packet_bytes). The peers send messages of no elements to the root,
// before they wait for its own: one who has sent the k-th has read what came before, which is how
// the root knows that a buffer is free again.
template <Block B, Operand In, Operand Out>
SYM_FN void broadcast_one_shot(B& block, const Group& group, In in, Out out, std::size_t n,
                               int root) {
  const Team& team = group.team;
  if (!detail::root_is_apart(block, team, Extent{in, n}, Extent{out, n}, root)) return;
  const Packets& inbox = group.channel.inbox;
  const std::size_t slot = static_cast<std::size_t>(block.index());
  const bool sends = team.rank() == root;
  const Team peers = sends ? team : team.only(root);
  const Range nothing{0, 0};
  const auto rounds = rounds_of<typename Out::value_type>(block, group, n);
  for (Range piece = rounds.first(); !piece.empty(); piece = rounds.after(piece)) {
    block.put_packets(inbox, slot, in, sends ? piece : nothing, peers);
    block.quiet();  // the piece of `in` has been sent: `out` may be the same memory
    if (sends) block.transform(out, piece, detail::Identity{}, in);
    const Range wanted = sends ? nothing : piece;
    if (!block.receive_packets(per_member(out, 0), out, wanted, inbox, slot, peers)) return;
  }
}

// The root puts its input to every peer: one hop, (P-1) n elements out of the root. Blocks are of
// detail::hop_kinds kinds.
template <Block B, class T, Operand In>
SYM_FN void broadcast_direct(B& block, const Group& group, In in, Window<T> out, std::size_t n,
                             int root) {
  const Team& team = group.team;
  const Range mine = rows_of<T>(block, n)(0);
  if (!detail::root_is_apart(block, team, Extent{in, n}, Extent{out, n}, root)) return;
  if (!barrier(block, group)) return;  // outputs may be written
  if (team.rank() == root) {
    for (int i = 0; i < team.size(); ++i) {
      const int hop = detail::hop_of(block, i, team.size());
      if (hop == 0) {
        block.transform(out, mine, detail::Identity{}, in);
      } else {
        block.put(out, in, mine, team.pe((root + hop) % team.size()));
      }
    }
  }
  barrier(block, group);
}

// The root scatters shares, which all PEs then put to each other: the root's port carries the
// message once instead of P-1 times (van de Geijn's scatter and all-gather). Blocks are of
// detail::hop_kinds kinds.
template <Block B, class T, Operand In>
SYM_FN void broadcast_two_shot(B& block, const Group& group, In in, Window<T> out, std::size_t n,
                               int root) {
  const Team& team = group.team;
  const Shares<T> shares = shares_of<T>(block, n, team);
  if (!detail::root_is_apart(block, team, Extent{in, n}, Extent{out, n}, root)) return;
  if (!barrier(block, group)) return;
  if (team.rank() == root) {
    for (int i = 0; i < team.size(); ++i) {
      const int rank = (root + detail::hop_of(block, i, team.size())) % team.size();
      if (rank != root) block.put(out, in, shares(rank), team.pe(rank));
      for (int other = 0; rank == root && other < team.size(); ++other)
        block.transform(out, shares(other), detail::Identity{}, in);
    }
  }
  if (!barrier(block, group)) return;  // the shares have arrived
  for (int hop = 1; hop < team.size(); ++hop) {
    const int rank = (team.rank() + hop) % team.size();
    if (rank != root) block.put(out, out, shares(team.rank()), team.pe(rank));
  }
  barrier(block, group);
}

}  // namespace sym
