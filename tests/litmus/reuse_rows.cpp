// Slots and buffers that are used again.
#include "tests/litmus/litmus.hpp"

namespace sym::litmus {

namespace {

// ABA: two launches use one counter; the second waits for a value that the first has left behind.
std::function<void(FiberWorld&, Seen&)> next_launch(std::uint64_t second) {
  return [second](FiberWorld& world, Seen& seen) {
    const Desk desk(world);
    for (std::size_t k = 0; k < 2; ++k) {
      launch(world, [&, k](Block& block) {
        if (block.pe() == 0) {
          block.put_value(desk.x, k, 1, 1);
          block.fence(1);
          block.signal(desk.f, 0, 1);
        } else {
          block.wait_until(desk.f, 0, k == 0 ? std::uint64_t{1} : second);
          seen.r[k] = load(block, desk.x, k);
        }
      });
    }
    world.synchronize();
  };
}

// BAR-LAP: a barrier of one counter each, used twice; what lies between is a put.
Kernel barriers(std::uint64_t second) {
  return [second](Block& block, const Desk& desk, Seen& seen) {
    const int peer = 1 - block.pe();
    block.signal(desk.f, 0, peer);
    block.wait_until(desk.f, 0, std::uint64_t{1});
    if (block.pe() == 0) {
      block.put_value(desk.x, 0, 1, 1);
      block.quiet();
    }
    block.signal(desk.f, 0, peer);
    block.wait_until(desk.f, 0, second);
    if (block.pe() == 1) seen.r[0] = load(block, desk.x);
  };
}

// A barrier on one phase that somebody resets by waiting for less hangs nobody; one that counts one
// arrival too many hangs all.
Kernel one_too_many() {
  return [](Block& block, const Desk& desk, Seen&) {
    block.signal(desk.f, 0, 1 - block.pe());
    block.wait_until(desk.f, 0, std::uint64_t{2});
  };
}

// BUF2: in each epoch PE 0 puts into a buffer of PE 1, and they meet. With two buffers the meeting
// of the next epoch is the credit for the one before.
std::function<void(FiberWorld&, Seen&)> buffers(std::size_t count, int epochs) {
  return [count, epochs](FiberWorld& world, Seen& seen) {
    const Desk desk(world);
    const Signals steps = world.channel({1}).steps;
    launch(world, [&](Block& block) {
      const Team peer = desk.team.only(1 - block.pe());
      for (int epoch = 1; epoch <= epochs; ++epoch) {
        const std::size_t buffer = static_cast<std::size_t>(epoch) % count;
        if (block.pe() == 0) {
          block.put_value(desk.x, buffer, epoch, 1);
          block.fence(1);
        }
        block.signal(steps, 0, peer);
        block.wait_until(steps, 0, peer);
        if (block.pe() == 1) {
          seen.r[static_cast<std::size_t>(epoch - 1)] = load(block, desk.x, buffer);
        }
      }
    });
    world.synchronize();
  };
}

// SIG-LOST: with a word for each producer, which only grows, two signals in a row lose nothing.
void monotone(FiberWorld& world, Seen& seen) {
  const Desk desk(world);
  const Channel channel = world.channel({1});
  launch(world, [&](Block& block) {
    const Team both = block.pe() == 0 ? desk.team.only(1) : desk.team.only(0);
    if (block.pe() == 0) {
      block.signal(channel.barriers, 0, both);
      block.fence(1);
      block.signal(channel.barriers, 0, both);
    } else {
      seen.r[0] = block.wait_until(channel.barriers, 0, both) ? 1 : 0;
      seen.r[1] = block.wait_until(channel.barriers, 0, both) ? 1 : 0;
    }
  });
  world.synchronize();
}

}  // namespace

std::vector<Row> reuse_rows() {
  return {
      {"ABA", 2, next_launch(1), 2, {"1 0", "1 1"}, {"race"}},
      {"ABA_epochs", 2, next_launch(2), 2, {"1 1"}, {}},
      {"BAR_LAP", 2, program_of(barriers(1)), 1, {"0", "1"}, {"race"}},
      {"BAR_LAP_epochs", 2, program_of(barriers(2)), 1, {"1"}, {}},
      {"BAR_hang", 2, program_of(one_too_many()), 1, {"hang"}, {"deadlock"}},
      {"BUF1", 2, buffers(1, 2), 2, {"1 2", "2 2"}, {"race"}},
      {"BUF2", 2, buffers(2, 3), 3, {"1 2 3"}, {}},
      {"WRAP", 2, buffers(2, 3), 3, {"1 2 3"}, {}, false, 0, true},
      {"SIG_LOST_epochs", 2, monotone, 2, {"1 1"}, {}},
  };
}

}  // namespace sym::litmus
