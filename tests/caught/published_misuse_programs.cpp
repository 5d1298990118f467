// Reports of other projects: PEs that disagree, kernels that wait for what cannot run, places that
// are somebody else's. And of the same kernels programs that nobody has reported.
#include "core/collective/barrier.hpp"
#include "core/collective/share.hpp"
#include "tests/caught/caught.hpp"

namespace sym::caught {

namespace {

constexpr Range all{0, Desk::n};

struct Meets {
  Group group;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    barrier(block, group);
  }
};

// meta-pytorch/torchrec#4149: two groups are entered in different order, and the host waits between
// them.
void groups_in_other_order(FiberWorld& world, bool fixed) {
  const Group groups[2] = {{world.channel({1}), world.team()}, {world.channel({1}), world.team()}};
  const int first = fixed ? 0 : world.pe();
  world.launch(launch_of("first"), Meets{groups[first]});
  world.synchronize();
  world.launch(launch_of("second"), Meets{groups[1 - first]});
}

// NVIDIA/nccl#1417: PEs come with different counts.
void counts_differ(FiberWorld& world, bool fixed) {
  const Channel channel = world.channel({1});
  const std::size_t count = !fixed && world.pe() == 1 ? Desk::n - 1 : Desk::n;
  const auto tag = operation_tag(operation_of("sum"), count, sizeof(float), 1);
  world.launch(launch_of("meets"), Meets{{channel.tagged(tag), world.team()}});
}

// pytorch/pytorch#191618: the bound of a PE's part of a channel is multiplied by the number of PEs
// where it should be divided.
struct WrongBound {
  Desk desk;
  bool fixed;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    const auto pes = static_cast<std::size_t>(block.n_pes());
    const std::size_t part = fixed ? Desk::n / pes : Desk::n * pes;
    const auto me = static_cast<std::size_t>(block.pe());
    block.put(desk.a.at(me * part), desk.b, Range{0, Desk::n / pes}, 0);
    block.quiet();
  }
};

// pytorch/pytorch#191858: a barrier that says that it worked, and does nothing.
template <Block B>
SYM_FN bool stub_barrier(B&, const Group&) {
  return true;
}
struct StubBarrier {
  Desk desk;
  bool fixed;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    block.transform(desk.a, all, detail::Identity{}, desk.b);
    if (!(fixed ? barrier(block, desk.group) : stub_barrier(block, desk.group))) return;
    block.reduce(desk.out, desk.a, all, desk.group.team, Sum{});
  }
};

// NVIDIA/nccl#2198: two windows are carved from one allocation, and the second begins before the
// first has ended.
struct CarvedWindows {
  Desk desk;
  bool fixed;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    const Window<float> first = desk.a, second = desk.a.at(fixed ? 40 : 32);
    const Signals& steps = desk.group.channel.steps;
    const auto slot = static_cast<std::size_t>(block.index());  // each block has a window
    const int peer = 1 - block.pe();
    block.put_signal(block.index() == 0 ? first : second, desk.b, Range{0, 40}, steps, slot, peer);
    block.wait_until(steps, slot, desk.group.team);
    block.quiet();
  }
};

// --- kernels that wait for what finds no place on the device -------------------------------------

struct WaitsFor {
  Signals counter;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    block.wait_until(counter, 0, std::uint64_t{1});
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

// deepseek-ai/DeepEP#496: a kernel that spins holds the place of the one that it waits for.
void spins_in_its_place(FiberWorld& world, bool fixed) {
  const Signals counter = counters(world, 1);
  if (fixed) world.launch(launch_of("tells"), Tells{counter});
  world.launch(launch_of("waits"), WaitsFor{counter});
  if (!fixed) world.launch(launch_of("tells", 1, 1), Tells{counter});
}

// NVIDIA/cub#369: the blocks of a grid meet, and not all of them are resident.
struct GridMeets {
  Signals counter;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    block.signal(counter, 0, block.pe());
    block.quiet();
    block.wait_until(counter, 0, static_cast<std::uint64_t>(block.count()));
  }
};
void grid_too_large(FiberWorld& world, bool fixed) {
  world.launch(launch_of("meets", fixed ? 2 : 3), GridMeets{counters(world, 1)});
}

// vllm-project/vllm#32860, #41189: two kernels on two streams, each of which waits for its like on
// the other PE, and which of them finds a place first differs. Repaired, one begins after the
// other.
void kernels_in_other_order(FiberWorld& world, bool fixed) {
  const Group first{world.channel({1}), world.team()};
  const Group second{world.channel({1}), world.team()};
  world.launch(launch_of("first", 1, 0), Meets{first});
  if (fixed) world.queue(1).after(world.queue(0).record());
  world.launch(launch_of("second", 1, 1), Meets{second});
}

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

std::vector<Program> published_misuse_programs() {
  return {{"groups_in_other_order",
           "deadlock",
           2,
           groups_in_other_order,
           {"PE 0 block 0", "PE 1 block 0", "expected 1, seen 0"}},
          {.name = "spins_in_its_place",
           .kind = "deadlock",
           .pes = 2,
           .run = spins_in_its_place,
           .says = {"wait_until", "verdict not scheduled: ", " of kernel tells has no place"},
           .found = Found::by_worst,
           .resident_blocks = 1},
          {.name = "grid_too_large",
           .kind = "deadlock",
           .pes = 1,
           .run = grid_too_large,
           .says = {"wait_until", "expected 3, seen 2", "verdict not scheduled: "},
           .resident_blocks = 2},
          {.name = "kernels_in_other_order",
           .kind = "deadlock",
           .pes = 2,
           .run = kernels_in_other_order,
           .says = {"PE 0 block 0", "PE 1 block 0", "channel #", " barriers slot 0 lane 1",
                    "expected 1, seen 0", "verdict not scheduled: "},
           .found = Found::by_worst,
           .resident_blocks = 1},
          {"counts_differ",
           "mismatch",
           2,
           counts_differ,
           {"another operation, count, type or grid than PE ", ", at channel #0 barriers slot 0",
            "there  PE ", "signal at tests/caught/published_misuse_programs.cpp",
            " came for one operation, PE ",
            " for another; kernel, grid and line are the same, so "
            "operation, count or type differ"},
           "let every PE call the same operation"},
          {"wrong_bound",
           "error",
           2,
           one_launch_of<WrongBound>,
           {"out of bounds", "put", "of a window that at() has moved "}},
          {"stub_barrier", "race", 2, one_launch_of<StubBarrier>, {"transform", "reduce"}},
          {"windows_overlap",
           "race",
           2,
           one_launch_of<CarvedWindows, 2>,
           {"put_signal vs put_signal"}}};
}

}  // namespace sym::caught
