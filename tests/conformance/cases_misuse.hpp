// What must be refused or reported, as host programs; each backend's test says how it is reported.
#pragma once

#include "experiments/sym/collective_kernels.hpp"
#include "tests/conformance/harness.hpp"

namespace sym::conformance {

using command::AllReduceKernel;
using command::Variant;

// PE 1 asks for one element more than the others.
template <class W>
void different_sizes(W& world) {
  (void)world.template allocate<float>(world.pe() == 1 ? 11 : 10);
}

// PE 1 frees what the others do not free.
template <class W>
void different_order(W& world) {
  const auto first = world.template allocate<float>(10);
  if (world.pe() == 1) world.free(first);
  (void)world.template allocate<float>(10);
}

template <class W>
void freed_twice(W& world) {
  const auto window = world.template allocate<float>(10);
  world.free(window);
  world.free(window);
}

// PE 2 comes with one element less: the tag of its barrier tells.
template <class W>
void different_counts(W& world) {
  const auto in = world.template allocate<float>(100);
  const auto out = world.template allocate<float>(100);
  const Channel channel = world.channel({1});
  const std::size_t n = world.pe() == 2 ? 99 : 100;
  const Group group{channel.tagged(operation_tag(1, n, sizeof(float), 1)), world.team()};
  world.launch(launch_of("counted"),
               AllReduceKernel<Variant::two_shot, float, Sum>{group, in, out, n});
  world.synchronize();
}

// PE 1 leaves out one all-reduce of blocks 0 and 1.
template <class W>
void one_skips(W& world) {
  const auto in = world.template allocate<float>(100);
  const auto out = world.template allocate<float>(100);
  const Group group{world.channel({2}), world.team()};
  const AllReduceKernel<Variant::two_shot, float, Sum> kernel{group, in, out, 100};
  world.launch(launch_of("first", 2), kernel);
  if (world.pe() != 1) world.launch(launch_of("second", 2), kernel);
  world.synchronize();
}

// One channel on two streams: the second launch begins while the first is inside.
struct Holds {
  Channel channel;
  Signals inside;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    block.enter(channel);
    block.signal(inside, 0, block.pe());
    block.wait_until(inside, 1, std::uint64_t{1});
    block.leave(channel);
  }
};
struct Intrudes {
  Channel channel;
  Signals inside;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    block.wait_until(inside, 0, std::uint64_t{1});
    block.enter(channel);
    block.signal(inside, 1, block.pe());
    block.leave(channel);
  }
};

template <class W>
void channel_on_two_streams(W& world) {
  const Channel channel = world.channel({1});
  const Signals inside = counters(world, 2);
  world.launch(launch_of("holds", 1, 0), Holds{channel, inside});
  world.launch(launch_of("intrudes", 1, 1), Intrudes{channel, inside});
  world.synchronize();
}

template <class W>
void overlapping_windows(W& world) {
  const auto in = world.template allocate<float>(11);
  const Group group{world.channel({1}), world.team()};
  world.launch(launch_of("overlaps"),
               AllReduceKernel<Variant::two_shot, float, Sum>{group, in, in.at(1), 10});
  world.synchronize();
}

template <class W>
void too_many_blocks(W& world) {
  const auto in = world.template allocate<float>(10);
  const Group group{world.channel({2}), world.team()};
  world.launch(launch_of("wide", 3),
               AllReduceKernel<Variant::two_shot, float, Sum>{group, in, in, 10});
  world.synchronize();
}

// After a failure nothing more can be launched until all PEs recover, and then all is well.
template <class W>
void recovers(W& world, Errors& errors) {
  const auto in = world.template allocate<float>(100);
  const auto out = world.template allocate<float>(100);
  const Group group{world.channel({1}), world.team()};
  const AllReduceKernel<Variant::ring, float, Sum> kernel{group, in, out, 100};
  write_all(world, in, values<float>({1, world.pe(), world.n_pes()}, 100));
  if (world.pe() != 1) {
    world.launch(launch_of("alone"), kernel);
    for (int times = 0; times < 2; ++times) {
      try {
        if (times == 1) world.launch(launch_of("refused"), kernel);
        world.synchronize();
        errors.add(who(world, "nothing failed"));
      } catch (const Failure&) {
      }
    }
  }
  world.recover();
  world.launch(launch_of("after"), kernel);
  world.synchronize();
  expect_equal(errors, who(world, "after recovery"), read_all(world, out, 100),
               combined<float>(1, world.team(), 100, 0, Sum{}));
}

}  // namespace sym::conformance
