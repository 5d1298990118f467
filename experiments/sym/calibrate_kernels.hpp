// Kernels of `sym calibrate`: point-to-point tests, written once and launched in every world that
// has time. models/calibrate.hpp says what each is for.
#pragma once

#include "core/collective/barrier.hpp"
#include "core/collective/share.hpp"

namespace sym::command {

struct EmptyKernel {
  template <Block B>
  SYM_FN void operator()(B&) const {}
};

struct SyncKernel {
  int rounds;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    for (int i = 0; i < rounds; ++i) block.sync();
  }
};

// Element i of the chain says which is loaded next.
struct LoadKernel {
  Window<std::uint32_t> chain;
  int rounds;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    std::uint32_t at = 0;
    for (int i = 0; i < rounds; ++i) at = block.read(chain, at);
    block.require(at < chain.count, "a chain of loads stays within its window", at, chain.count);
  }
};

// `rounds` meetings, or a meeting before and a meeting behind one verb on the block's part of n
// elements. The channel is entered and left, as it is by whatever uses one.
enum class Between { nothing, local, put, reduce };
template <Between between>
struct MeetKernel {
  Group group;
  Window<float> to, from;
  std::size_t n;
  int rounds;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    const Range part = chunk(Range{0, n}, block.index(), block.count(), granule<float>);
    block.enter(group.channel);
    if constexpr (between == Between::nothing) {
      for (int i = 0; i < rounds; ++i) barrier(block, group);
    } else {
      barrier(block, group);
      if constexpr (between == Between::local) block.transform(to, part, detail::Identity{}, from);
      if constexpr (between == Between::put)
        block.put(to, from, part, block.n_pes() - 1 - block.pe());
      if constexpr (between == Between::reduce) block.reduce(to, from, part, group.team, Sum{});
      barrier(block, group);
    }
    block.leave(group.channel);
  }
};

// Sums of n elements of this PE's own memory, as they lie in slots: pieces as pipelines cut them.
struct SlotsKernel {
  Team team;
  Window<float> to, from;
  std::size_t n;
  int rounds;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    const std::size_t all = n * static_cast<std::size_t>(rounds);
    for (int i = 0; i < rounds; ++i) {
      const Range piece = chunk(Range{0, all}, i, rounds, granule<float>);
      block.reduce_slots(to, from, per_member(from, all), piece, team, Sum{});
    }
  }
};

// `rounds` messages of n elements each way, in packets.
struct ExchangeKernel {
  Group group;
  Window<float> to, from;
  std::size_t n;
  int rounds = 1;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    const Packets& inbox = group.channel.inbox;
    block.enter(group.channel);
    for (int i = 0; i < rounds; ++i) {
      block.put_packets(inbox, 0, from, Range{0, n}, group.team);
      block.reduce_packets(to, from, Range{0, n}, inbox, 0, group.team, Sum{});
    }
    block.leave(group.channel);
  }
};

enum class Move { put, get, reduce, local };

// n elements in equal parts, by PE 0, or by both, which meet first.
template <Move move>
struct MoveKernel {
  Group group;
  Window<float> to, from;
  std::size_t n;
  bool both;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    if (both) {
      barrier(block, group);
    } else if (block.pe() != 0) {
      return;
    }
    const Range part = chunk(Range{0, n}, block.index(), block.count(), granule<float>);
    const int peer = block.n_pes() - 1 - block.pe();
    if constexpr (move == Move::put) block.put(to, from, part, peer);
    if constexpr (move == Move::get) block.get(to, from, part, peer);
    if constexpr (move == Move::reduce) block.reduce(to, from, part, group.team, Sum{});
    if constexpr (move == Move::local) block.transform(to, part, detail::Identity{}, from);
    block.quiet();
  }
};

}  // namespace sym::command
