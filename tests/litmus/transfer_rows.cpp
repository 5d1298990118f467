// When a transfer reads its source, writes its destination, and is complete.
#include "core/collective/barrier.hpp"
#include "tests/litmus/litmus.hpp"

namespace sym::litmus {

namespace {

// PUT-PUT: two puts to one place; PE 1 looks when both are complete.
Kernel twice(bool fenced) {
  return [fenced](Block& block, const Desk& desk, Seen& seen) {
    if (block.pe() == 0) {
      block.put_value(desk.x, 0, 1, 1);
      if (fenced) block.fence(1);
      block.put_value(desk.x, 0, 2, 1);
      block.quiet();
      block.signal(desk.f, 0, 1);
    } else {
      block.wait_until(desk.f, 0, std::uint64_t{1});
      seen.r[0] = load(block, desk.x);
    }
  };
}

// SRC-WAR: the source of a put is written again. Two granules of it, so that the put may be torn.
Kernel source_again(bool quiet) {
  return [quiet](Block& block, const Desk& desk, Seen& seen) {
    const Range all{0, 4};
    const auto fill = [&](int value) {
      block.transform(desk.y, all, [value] { return value; });
      block.sync();
    };
    if (block.pe() == 0) {
      fill(1);
      block.put(desk.x, desk.y, all, 1);
      if (quiet) block.quiet();
      fill(2);
      block.quiet();
      block.signal(desk.f, 0, 1);
    } else {
      block.wait_until(desk.f, 0, std::uint64_t{1});
      seen.r[0] = load(block, desk.x, 0);
      seen.r[1] = load(block, desk.x, 3);
    }
  };
}

// GET-RAW: the destination of a get is read before quiet.
Kernel fetched(bool quiet) {
  return [quiet](Block& block, const Desk& desk, Seen& seen) {
    store(block, desk.x, 1);
    block.get(desk.y, desk.x, one, block.pe());
    if (quiet) block.quiet();
    seen.r[0] = load(block, desk.y);
    block.quiet();
  };
}

// FENCE-SRC: a put of what the put before has brought, both to oneself.
Kernel passed_on(bool quiet) {
  return [quiet](Block& block, const Desk& desk, Seen& seen) {
    store(block, desk.x, 1);
    block.put(desk.y, desk.x, one, block.pe());
    quiet ? block.quiet() : block.fence(block.pe());
    block.put(desk.y.at(1), desk.y, one, block.pe());
    block.quiet();
    seen.r[0] = load(block, desk.y, 1);
  };
}

// TEAR: data and flag in one put of two granules, and a reader who takes the flag for both.
void flag_in_data(Block& block, const Desk& desk, Seen& seen) {
  if (block.pe() == 0) {
    block.transform(desk.y, Range{0, 4}, [] { return 1; });
    block.sync();
    block.put(desk.x, desk.y, Range{0, 4}, 1);
    block.quiet();
  } else {
    seen.r[0] = load(block, desk.x, 3);  // the flag
    seen.r[1] = load(block, desk.x, 0);
  }
}

// BAR-Q, SYNC-Q: a put, and everybody meets; only a barrier completes it.
std::function<void(FiberWorld&, Seen&)> met(bool complete) {
  return [complete](FiberWorld& world, Seen& seen) {
    const Desk desk(world);
    const Group group{world.channel({1}), world.team()};
    launch(world, [&](Block& block) {
      if (block.pe() == 0) block.put_value(desk.x, 0, 1, 1);
      if (complete) {
        barrier(block, group);
      } else {
        block.signal(group.channel.barriers, 0, group.team);
        block.wait_until(group.channel.barriers, 0, group.team);
      }
      if (block.pe() == 1) seen.r[0] = load(block, desk.x);
      block.quiet();
    });
    world.synchronize();
  };
}

// The protocol that the library has for flags in the data: packets.
void packets(FiberWorld& world, Seen& seen) {
  const Desk desk(world);
  const Channel channel = world.channel({1, 16});
  launch(world, [&](Block& block) {
    store(block, desk.x, 1 + block.pe());
    block.put_packets(channel.inbox, 0, desk.x, one, desk.team);
    block.reduce_packets(desk.y, desk.x, one, channel.inbox, 0, desk.team, Sum{});
    seen.r[static_cast<std::size_t>(block.pe())] = load(block, desk.y);
    block.quiet();
  });
  world.synchronize();
}

}  // namespace

std::vector<Row> transfer_rows() {
  return {
      {"PUT_PUT", 2, program_of(twice(false)), 1, {"1", "2"}, {"race"}},
      {"PUT_PUT_fence", 2, program_of(twice(true)), 1, {"2"}, {}},
      {"SRC_WAR", 2, program_of(source_again(false)), 2, {"1 1", "2 2"}, {"race"}},
      {"SRC_WAR_torn",
       2,
       program_of(source_again(false)),
       2,
       {"1 1", "1 2", "2 1", "2 2"},
       {"race"},
       true},
      {"SRC_WAR_quiet", 2, program_of(source_again(true)), 2, {"1 1"}, {}, true},
      {"GET_RAW", 1, program_of(fetched(false)), 1, {"0", "1"}, {"race"}},
      {"GET_RAW_quiet", 1, program_of(fetched(true)), 1, {"1"}, {}},
      {"FENCE_SRC", 1, program_of(passed_on(false)), 1, {"0", "1"}, {"race"}},
      {"FENCE_SRC_quiet", 1, program_of(passed_on(true)), 1, {"1"}, {}},
      {"TEAR", 2, program_of(flag_in_data), 2, {"0 0", "0 1", "1 0", "1 1"}, {"race"}, true},
      {"TEAR_whole", 2, program_of(flag_in_data), 2, {"0 0", "0 1", "1 1"}, {"race"}},
      {"TEAR_packets", 2, packets, 2, {"3 3"}, {}},
      {"BAR_Q", 2, met(true), 1, {"1"}, {}},
      {"SYNC_Q", 2, met(false), 1, {"0", "1"}, {"race"}},
  };
}

}  // namespace sym::litmus
