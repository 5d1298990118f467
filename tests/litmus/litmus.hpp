// Litmus: small programs and all that the memory model allows them to show. Each is explored
// exhaustively: every outcome of its row is seen, and no other.
//
// An outcome is the values that the program read, in the order of Seen::r ("1 0"), or "hang". The
// ids are those that the literature and docs/guide/check.md use.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "backends/check/explore.hpp"

namespace sym::litmus {

using Block = fiber::FiberBlock;
using fiber::FiberWorld;

// What one execution has read; made anew for each.
struct Seen {
  std::array<int, 4> r{};
};

struct Row {
  std::string id;
  int pes;
  std::function<void(FiberWorld&, Seen&)> program;
  int reads;                       // how many of Seen::r it fills
  std::set<std::string> outcomes;  // all that can be seen
  std::set<std::string> findings;  // kinds of all that the checker must say
  bool pieces = false;             // payloads arrive in pieces
  int resident = 0;                // blocks of a PE at a time; 0: all
  bool wrap = false;               // counters are about to wrap
  friend void PrintTo(const Row& row, std::ostream* out) { *out << row.id; }
};

std::vector<Row> message_rows();   // data and a signal that says it is there
std::vector<Row> order_rows();     // what two observers may disagree on
std::vector<Row> transfer_rows();  // sources, destinations, completion
std::vector<Row> reuse_rows();     // slots and buffers that are used again
std::vector<Row> host_rows();      // launches, streams, hosts
std::vector<Row> word_rows();      // words of signals that other verbs write

// Memory that every kernel has: two windows of four elements, zero, and four counters.
struct Desk {
  Window<std::int32_t> x, y;
  Signals f;
  Team team;
  explicit Desk(FiberWorld& world)
      : x(world.allocate<std::int32_t>(4)), y(world.allocate<std::int32_t>(4)), team(world.team()) {
    f.words = world.allocate_control<std::uint64_t>(4);
    f.slots = 4;
  }
};

using Kernel = std::function<void(Block&, const Desk&, Seen&)>;

inline void launch(FiberWorld& world, const std::function<void(Block&)>& kernel, int stream = 0) {
  LaunchConfig config;
  config.name = "litmus";
  config.stream = stream;
  world.launch(config, [kernel](Block& block) { kernel(block); });
}

// A program that is one kernel of one block on every PE.
inline std::function<void(FiberWorld&, Seen&)> program_of(const Kernel& kernel) {
  return [kernel](FiberWorld& world, Seen& seen) {
    const Desk desk(world);
    launch(world, [&](Block& block) { kernel(block, desk, seen); });
    world.synchronize();
  };
}

inline constexpr Range one{0, 1};

// Writes `value` to own memory, as the block's lanes do.
inline void store(Block& block, Window<std::int32_t> to, std::int32_t value) {
  block.transform(to, one, [value] { return value; });
  block.sync();
}
inline int load(Block& block, Window<std::int32_t> from, std::size_t index = 0) {
  return block.read(from, index);
}

}  // namespace sym::litmus
