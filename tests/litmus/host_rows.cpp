// Launches, streams and hosts.
#include "tests/litmus/litmus.hpp"

namespace sym::litmus {

namespace {

// ZERO: PE 0's host clears its window after the allocation; PE 1 does not wait for that.
std::function<void(FiberWorld&, Seen&)> cleared(bool met) {
  return [met](FiberWorld& world, Seen& seen) {
    const Desk desk(world);
    if (world.pe() == 0) {
      const std::int32_t zero = 0;
      world.write(desk.x, &zero, 1);
    }
    if (met) world.barrier();
    launch(world, [&](Block& block) {
      if (block.pe() == 1) {
        block.put_value(desk.x, 0, 1, 0);
        block.fence(0);
        block.signal(desk.f, 0, 0);
      } else {
        block.wait_until(desk.f, 0, std::uint64_t{1});
        seen.r[0] = load(block, desk.x);
      }
    });
    world.synchronize();
  };
}

// EXIT: a window is freed while a put to it is under way. free is a barrier that completes
// everything, so the put has arrived, in the old window.
void freed(FiberWorld& world, Seen& seen) {
  const Desk desk(world);
  launch(world, [&](Block& block) {
    if (block.pe() == 0) block.put_value(desk.x, 0, 1, 1);
  });
  world.free(desk.y);
  std::int32_t got = 0;
  world.read(&got, desk.x, 1);
  if (world.pe() == 1) seen.r[0] = got;
}

// FWD: one kernel waits for another of the same PE, which comes before or after it in its stream,
// or in another stream.
std::function<void(FiberWorld&, Seen&)> forward(int stream) {
  return [stream](FiberWorld& world, Seen& seen) {
    const Desk desk(world);
    launch(world, [&](Block& block) {
      block.wait_until(desk.f, 0, std::uint64_t{1});
      seen.r[0] = load(block, desk.x);
    });
    launch(
        world,
        [&](Block& block) {
          store(block, desk.x, 1);
          block.signal(desk.f, 0, block.pe());
        },
        stream);
    world.synchronize();
  };
}

// A launch comes after what its stream has had; another stream knows nothing of it.
std::function<void(FiberWorld&, Seen&)> streams(int second) {
  return [second](FiberWorld& world, Seen& seen) {
    const Desk desk(world);
    launch(world, [&](Block& block) { store(block, desk.x, 1); });
    launch(
        world, [&](Block& block) { seen.r[0] = load(block, desk.x); }, second);
    world.synchronize();
  };
}

// Blocks of one launch are unordered.
void blocks(FiberWorld& world, Seen& seen) {
  const Desk desk(world);
  LaunchConfig config;
  config.blocks = 2;
  world.launch(config, [&](Block& block) {
    if (block.index() == 0) {
      store(block, desk.x, 1);
    } else {
      seen.r[0] = load(block, desk.x);
    }
  });
  world.synchronize();
}

}  // namespace

std::vector<Row> host_rows() {
  return {
      {"ZERO", 2, cleared(false), 1, {"0", "1"}, {"race"}},
      {"ZERO_barrier", 2, cleared(true), 1, {"1"}, {}},
      {"EXIT_free", 2, freed, 1, {"1"}, {}},
      {"FWD", 1, forward(0), 1, {"hang"}, {"deadlock"}},
      {"FWD_stream", 1, forward(1), 1, {"1"}, {}},
      {"FWD_no_place", 1, forward(1), 1, {"hang"}, {"deadlock"}, false, 1},
      {"STREAM_one", 1, streams(0), 1, {"1"}, {}},
      {"STREAM_two", 1, streams(1), 1, {"0", "1"}, {"race"}},
      {"BLOCKS", 1, blocks, 1, {"0", "1"}, {"race"}},
  };
}

}  // namespace sym::litmus
