// What a block sends in messages of packets: its part of a range, in pieces that an inbox holds.
#pragma once

#include "core/block.hpp"

namespace sym {

// The block's part of n elements, cut to pieces of at most what a message of the channel's inbox
// holds. A channel without an inbox (ChannelRequest::packet_bytes) gives one piece, which
// put_packets refuses.
//
//   for (Range piece = rounds.first(); !piece.empty(); piece = rounds.after(piece)) ...
template <class T>
struct Rounds {
  Range part;
  std::size_t most = 0;  // elements of a piece

  SYM_HD constexpr Range first() const { return from(part.first); }
  SYM_HD constexpr Range after(Range piece) const { return from(piece.end()); }

 private:
  SYM_HD constexpr Range from(std::size_t begin) const {
    const std::size_t left = part.end() - begin;
    return {begin, left < most || most == 0 ? left : most};
  }
};

template <class T, Block B>
SYM_FN Rounds<T> rounds_of(const B& block, const Group& group, std::size_t n) {
  const Range all{0, n};
  const bool alone = block.count() == 1;  // small messages are to be short of divisions
  return {alone ? all : chunk(all, block.index(), block.count(), granule<T>),
          group.channel.inbox.capacity_bytes / sizeof(T)};
}

}  // namespace sym
