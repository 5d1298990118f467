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

// One access of PE 0 to both PEs' memory at a time, each to lines of its own, which no cache of a
// block has. The sync comes when the loaded bytes have.
struct FarLoadKernel {
  static constexpr std::size_t apart = 64;
  Team team;
  Window<float> to, from;
  int rounds;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    if (block.pe() != 0) return;
    for (int i = 0; i < rounds; ++i) {
      const std::size_t first = static_cast<std::size_t>(i) * apart;
      block.reduce(to, from, Range{first, granule<float>}, team, Sum{});
      block.sync();
    }
  }
};

// There and back. With packets nothing is released but the message; with signals everything is, and
// a put with its signal is released when it is there. The
// channel is entered and left, as it is by whatever uses one.
enum class Ping { packets, signals, puts };
template <Ping ping>
struct PingKernel {
  Group group;
  Window<float> to, from;
  int rounds;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    block.enter(group.channel);
    for (int i = 0; i < rounds; ++i) {
      if (block.pe() == 0) send(block);
      receive(block);
      if (block.pe() != 0) send(block);
    }
    block.leave(group.channel);
  }

 private:
  static constexpr Range message{0, granule<float>};
  template <Block B>
  SYM_FN void send(B& block) const {
    const auto slot = static_cast<std::size_t>(block.index());
    if constexpr (ping == Ping::packets) {
      block.put_packets(group.channel.inbox, slot, from, message, group.team);
    } else if constexpr (ping == Ping::puts) {
      const int peer = block.n_pes() - 1 - block.pe();
      block.put_signal(to, from, message, group.channel.steps, slot, peer);
    } else {
      block.signal(group.channel.steps, slot, group.team);
    }
  }
  template <Block B>
  SYM_FN void receive(B& block) const {
    const auto slot = static_cast<std::size_t>(block.index());
    if constexpr (ping == Ping::packets) {
      block.reduce_packets(to, from, message, group.channel.inbox, slot, group.team, Sum{});
    } else {
      block.wait_until(group.channel.steps, slot, group.team);
    }
  }
};

struct ExchangeKernel {
  Group group;
  Window<float> to, from;
  std::size_t n;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    const Packets& inbox = group.channel.inbox;
    block.enter(group.channel);
    block.put_packets(inbox, 0, from, Range{0, n}, group.team);
    block.reduce_packets(to, from, Range{0, n}, inbox, 0, group.team, Sum{});
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
