// Waits that nobody ends.
#include "core/collective/barrier.hpp"
#include "tests/caught/caught.hpp"

namespace sym::caught {

namespace {

struct WrongSlot {
  Desk desk;
  bool fixed;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    if (block.pe() == 0) block.signal(desk.counter, fixed ? 1 : 0, 1);
    if (block.pe() == 1) block.wait_until(desk.counter, 1, std::uint64_t{1});
  }
};

struct SignalMissing {
  Desk desk;
  bool fixed;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    const Signals& steps = desk.group.channel.steps;
    if (block.pe() == 0) {
      block.put(desk.a, desk.b, Range{0, Desk::n}, 1);
      if (fixed) block.fence(1);
      if (fixed) block.signal(steps, 0, 1);
      block.quiet();
    } else {
      block.wait_until(steps, 0, desk.group.team.only(0));
    }
  }
};

struct Meets {
  Desk desk;
  bool fixed;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    barrier(block, desk.group);
  }
};

// Each waits for the other's signal before it sends its own.
struct Cycle {
  Desk desk;
  bool fixed;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    const int peer = 1 - block.pe();
    if (fixed) block.signal(desk.counter, 0, peer);
    block.wait_until(desk.counter, 0, std::uint64_t{1});
    if (!fixed) block.signal(desk.counter, 0, peer);
  }
};

template <class Kernel>
void one_launch(FiberWorld& world, bool fixed) {
  const Desk desk(world);
  world.launch(launch_of("waits"), Kernel{desk, fixed});
}

// What a kernel waits for is what the next launch of its own stream does.
struct Awaits {
  Signals counter;
  bool polls;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    if (!polls) block.wait_until(counter, 0, std::uint64_t{1});
    while (polls && block.test(counter, 0) == 0) {
    }
  }
};
struct Tells {
  Signals counter;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    block.signal(counter, 0, block.pe());
    block.quiet();
  }
};
template <bool polls>
void next_launch_tells(FiberWorld& world, bool fixed) {
  const Signals counter = counters(world, 1);
  if (fixed) world.launch(launch_of("tells"), Tells{counter});
  world.launch(launch_of("awaits"), Awaits{counter, polls});
  if (!fixed) world.launch(launch_of("tells"), Tells{counter});
}

void one_skips(FiberWorld& world, bool fixed) {
  const Desk desk(world);
  for (int launch = 0; launch < 2; ++launch) {
    if (fixed || world.pe() != 2 || launch != 1)
      world.launch(launch_of("meets"), Meets{desk, fixed});
  }
}

}  // namespace

std::vector<Program> waiting_programs() {
  return {{"wrong_slot",
           "deadlock",
           2,
           one_launch<WrongSlot>,
           {"PE 1 block 0", "slot 1", "expected 1, seen 0"}},
          {"signal_missing", "deadlock", 2, one_launch<SignalMissing>, {"slot 0", "missing: PE 0"}},
          {"wait_cycle", "deadlock", 2, one_launch<Cycle>, {"DEADLOCK", "no signal is on its way"}},
          {"next_launch_tells",
           "deadlock",
           2,
           next_launch_tells<false>,
           {"PE 0's launch 2 of kernel tells comes after this one on its stream"}},
          {"next_launch_tells_who_polls",
           "livelock",
           2,
           next_launch_tells<true>,
           {"verdict not scheduled: PE 0's launch 2 of kernel tells comes after this one"}},
          {"one_pe_skips",
           "deadlock",
           3,
           one_skips,
           {"missing: PE 2", "expected 2, seen 1", "slot 0"}}};
}

}  // namespace sym::caught
