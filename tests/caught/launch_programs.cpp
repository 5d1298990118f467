// Launches that nothing orders, and how many are resident at once: deadlocks and busy channels.
#include "core/collective/barrier.hpp"
#include "tests/caught/caught.hpp"

namespace sym::caught {

namespace {

struct Meets {
  Group group;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    barrier(block, group);
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
struct WaitsFor {
  Signals counter;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    block.wait_until(counter, 0, std::uint64_t{1});
  }
};

// Two kernels on two streams, each of which waits for its like on the other PE, launched in another
// order on the odd PEs: places in the order of launches hang.
void launches_in_cross_order(FiberWorld& world, bool fixed) {
  const Group first{world.channel({1}), world.team()};
  const Group second{world.channel({1}), world.team()};
  const bool crossed = !fixed && world.pe() % 2 == 1;
  world.launch(launch_of("one", 1, 0), Meets{crossed ? second : first});
  if (fixed) world.queue(1).after(world.queue(0).record());
  world.launch(launch_of("other", 1, 1), Meets{crossed ? first : second});
}
// Who signals is launched first, and finds its place last.
void tells_launched_first(FiberWorld& world, bool fixed) {
  const Signals counter = counters(world, 1);
  world.launch(launch_of("tells", 1, fixed ? 0 : 1), Tells{counter});
  world.launch(launch_of("waits"), WaitsFor{counter});
}

// Two launches on two streams use one channel, one after the other as it happens.
struct EntersAndLeaves {
  Channel channel;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    block.enter(channel);
    block.sync();
    block.leave(channel);
  }
};
void channel_on_two_streams(FiberWorld& world, bool fixed) {
  const Channel channel = world.channel({1});
  world.launch(launch_of("one"), EntersAndLeaves{channel});
  if (fixed) world.queue(1).after(world.queue(0).record());
  world.launch(launch_of("other", 1, 1), EntersAndLeaves{channel});
}

}  // namespace

std::vector<Program> launch_programs() {
  return {{.name = "launches_in_cross_order",
           .kind = "deadlock",
           .pes = 2,
           .run = launches_in_cross_order,
           .says = {"expected 1, seen 0", "verdict not scheduled: "},
           .found = Found::by_worst,
           .resident_blocks = 1},
          {.name = "tells_launched_first",
           .kind = "deadlock",
           .pes = 1,
           .run = tells_launched_first,
           .says = {"wait_until", "verdict not scheduled: ", " of kernel tells has no place"},
           .found = Found::by_worst,
           .resident_blocks = 1},
          {"channel_on_two_streams",
           "busy",
           1,
           channel_on_two_streams,
           {"CHANNEL BUSY ", "nothing orders the two launches", "(other)", "(one)"}}};
}

}  // namespace sym::caught
