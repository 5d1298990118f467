// Signals and Channel: who has arrived, and what one operation at a time may use to say so.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/function.hpp"
#include "core/team.hpp"
#include "core/window.hpp"

namespace sym {

// A symmetric table of 64-bit counters, `slots` rows of `lanes` words. Two kinds of rows:
//
// lanes == number of PEs: a lane for each producer PE. `signal(s, slot, pe|team)` moves this PE's
//   lane at the target on by one; `wait_until(s, slot, team)` waits for the *next* signal of every
//   member. What was sent and seen is kept beside the words, for each (slot, PE), in device memory:
//   a replayed graph needs no epoch argument, and any subset of PEs may use a table as long as both
//   ends of each pair agree on the order of their operations.
// lanes == 1: plain counters. `signal(s, slot, pe)` adds one; `wait_until(s, slot, value)` waits
// for
//   the count.
//
// Tagged rows (barrier words) carry (epoch << 16 | tag), set by the lane's single producer; a
// waiter that finds its epoch with another tag reports a mismatch instead of waiting.
struct Signals {
  Window<std::uint64_t> words;  // symmetric: written by peers
  Window<std::uint64_t> sent;   // this PE's own: signals sent, for each (slot, PE)
  Window<std::uint64_t> seen;   // this PE's own: signals consumed, for each (slot, PE)
  std::size_t slots = 0;
  int lanes = 1;
  bool tagged = false;
  std::uint16_t tag = 0;

  SYM_HD constexpr std::size_t word(std::size_t slot, int lane) const {
    return slot * static_cast<std::size_t>(lanes) + static_cast<std::size_t>(lane);
  }
};

inline constexpr int tag_bits = 16;
SYM_HD constexpr std::uint64_t tagged_word(std::uint64_t epoch, std::uint16_t tag) {
  return (epoch << tag_bits) | tag;
}
SYM_HD constexpr std::uint64_t epoch_of(std::uint64_t word) { return word >> tag_bits; }
SYM_HD constexpr std::uint16_t tag_of(std::uint64_t word) {
  return static_cast<std::uint16_t>(word & ((1U << tag_bits) - 1));
}

// Whether a lane that shows `word` has come to `epoch`. Epochs wrap, and nobody is half their range
// behind: what counts is which of the two is ahead. `shift`: tag_bits for tagged rows, else 0.
// Plain counters never wrap, and are compared as the numbers that they are.
SYM_HD constexpr bool has_come(std::uint64_t word, std::uint64_t epoch, int shift) {
  return static_cast<std::int64_t>(word - (epoch << shift)) >= 0;
}
// Whether a tagged word shows this epoch, of which it keeps the low 48 bits.
SYM_HD constexpr bool shows(std::uint64_t word, std::uint64_t epoch) {
  return epoch_of(word) == epoch_of(epoch << tag_bits);
}

// An inbox for small messages whose flag travels in the data: nobody signals, the data itself says
// that it has come. For each (slot, sending PE) two buffers of `capacity_bytes` of payload, used in
// turn: a message may overwrite the one before last, because the pair has exchanged messages since.
// So every pair exchanges a message each time, in both directions; one who has nothing to send
// sends a message of no elements. Sent and seen are counted for each pair. Receipt acquires that
// message and nothing else.
struct Packets {
  Window<std::uint64_t>
      cells;      // symmetric: how payload and flags lie in it is the backend's business
  Signals lanes;  // what was sent and seen; its words are the flags of host backends
  std::size_t capacity_bytes = 0;
  std::uint64_t alternates = 1;  // 1: two buffers in turn

  // Bytes of cells for one message: each 4 bytes of payload have 4 of flag beside them on GPUs.
  SYM_HD constexpr std::size_t message_bytes() const { return 2 * capacity_bytes; }
  SYM_HD constexpr std::size_t offset_bytes(std::size_t slot, int from, std::uint64_t epoch) const {
    return (lanes.word(slot, from) * 2 + (epoch & alternates)) * message_bytes();
  }
  // Wrong on purpose: a message may overwrite the one before it, which may not have been read. For
  // testing whoever should notice.
  SYM_HD constexpr Packets in_one_buffer() const {
    Packets packets = *this;
    packets.alternates = 0;
    return packets;
  }
};

// Everything that one operation at a time uses: a barrier row and a step row for each block, and a
// busy word for each block that turns overlapping use into an error. Made by World::channel, which
// is collective. A launch may use at most `blocks` blocks.
struct Channel {
  Signals barriers;            // tagged, one slot a block
  Signals steps;               // counting lanes, one slot a block: rings and pipelines
  Packets inbox;               // one slot a block; capacity 0 unless it was asked for
  Window<std::uint64_t> busy;  // this PE's own: 1 while a launch uses the block's rows
  int blocks = 0;

  // This channel for one operation: every PE must arrive with the same tag (a hash of what the
  // operation is: see operation_tag).
  SYM_HD constexpr Channel tagged(std::uint16_t tag) const {
    Channel channel = *this;
    channel.barriers.tag = tag;
    channel.inbox.lanes.tag = tag;
    return channel;
  }
};

// Who takes part in an operation, and what they use to say so.
struct Group {
  Channel channel;
  Team team;
};

// What World::channel is asked for. Equal on all PEs.
struct ChannelRequest {
  int blocks = 1;
  std::size_t packet_bytes = 0;  // payload of one message of a block to a peer; rounded up to 16
};

// A number for an operation's name.
SYM_HD constexpr std::uint64_t operation_of(const char* name) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (; *name != 0; ++name) hash = (hash ^ static_cast<unsigned char>(*name)) * 1099511628211ULL;
  return hash;
}

// Folds (operation, count, element size, grid) to the tag of a barrier word: FNV-1a, 64 to 16 bits.
SYM_HD constexpr std::uint16_t operation_tag(std::uint64_t operation, std::uint64_t count,
                                             std::uint64_t element, std::uint64_t grid) {
  std::uint64_t hash = 14695981039346656037ULL;
  const std::uint64_t parts[4] = {operation, count, element, grid};
  for (std::uint64_t part : parts) {
    for (int byte = 0; byte < 8; ++byte) {
      hash = (hash ^ ((part >> (8 * byte)) & 0xff)) * 1099511628211ULL;
    }
  }
  hash ^= hash >> 32;
  return static_cast<std::uint16_t>((hash ^ (hash >> 16)) & 0xffff);
}

}  // namespace sym
