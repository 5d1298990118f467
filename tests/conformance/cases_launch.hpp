// Launches: many without a host between them, captured and replayed, on two streams; and memory
// that is allocated, freed and allocated again.
#pragma once

#include "experiments/sym/collective_kernels.hpp"
#include "tests/conformance/harness.hpp"

namespace sym::conformance {

using command::AllReduceKernel;
using command::Variant;

struct Add {
  template <class A>
  SYM_HD A operator()(A a, A b) const {
    return static_cast<A>(a + b);
  }
};

// In each round every PE puts a number to every peer's cell, and adds up what it got between two
// barriers.
struct Rounds {
  Group group;
  Window<std::int64_t> cells, total;
  int rounds;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    const Team& team = group.team;
    const auto width = static_cast<std::size_t>(team.size());
    const std::size_t row = static_cast<std::size_t>(block.index()) * width;
    block.enter(group.channel);
    for (int round = 0; round < rounds; ++round) {
      for (int rank = 0; rank < team.size(); ++rank) {
        block.put_value(cells, row + static_cast<std::size_t>(team.rank()),
                        static_cast<std::int64_t>(round * 1000 + team.rank()), team.pe(rank));
      }
      if (!barrier(block, group)) return;
      block.transform(total, Range{row, width}, Add{}, total, cells);
      if (!barrier(block, group)) return;
    }
    block.leave(group.channel);
  }
};

template <class W>
void barrier_repeated(W& world, Errors& errors) {
  constexpr int rounds = 20;
  constexpr int blocks = 2;
  const auto width = static_cast<std::size_t>(world.n_pes());
  const auto cells = world.template allocate<std::int64_t>(blocks * width);
  const auto total = world.template allocate<std::int64_t>(blocks * width);
  const Group group{world.channel({blocks}), world.team()};
  for (int launch = 1; launch <= 2; ++launch) {
    world.launch(launch_of("rounds", blocks, 0, false), Rounds{group, cells, total, rounds});
  }
  std::vector<std::int64_t> wanted;
  for (int block = 0; block < blocks; ++block) {
    for (int pe = 0; pe < world.n_pes(); ++pe)
      wanted.push_back(2 * (1000 * rounds * (rounds - 1) / 2 + rounds * pe));
  }
  expect_equal(errors, who(world, "totals"), read_all(world, total, blocks * width), wanted);
}

// Three launches in a row with no host between them: the output of each is the input of the next,
// and then the first buffer is written again.
template <class W>
void back_to_back(W& world, Errors& errors) {
  using T = std::int64_t;
  constexpr std::size_t n = 501;
  const auto a = world.template allocate<T>(n);
  const auto b = world.template allocate<T>(n);
  const auto c = world.template allocate<T>(n);
  const Group group{world.channel({2, 1024}), world.team()};
  const LaunchConfig config = launch_of("chain", 2);
  for (int iteration = 1; iteration <= 3; ++iteration) {
    write_all(world, a, values<T>({iteration, world.pe(), world.n_pes()}, n));
    world.launch(config, AllReduceKernel<Variant::one_shot, T, Sum>{group, a, b, n});
    world.launch(config, AllReduceKernel<Variant::ring, T, Sum>{group, b, c, n});
    world.launch(config, AllReduceKernel<Variant::two_shot, T, Sum>{group, c, a, n});
    world.launch(config, AllReduceKernel<Variant::two_shot, T, Sum>{group, a, a, n});
    std::vector<T> wanted = combined<T>(iteration, world.team(), n, 0, Sum{});
    const T pes = world.n_pes();
    for (T& one : wanted) one *= pes * pes * pes;
    expect_equal(errors, who(world, "chain " + std::to_string(iteration)), read_all(world, a, n),
                 wanted);
  }
}

// A captured pair of launches, replayed with other inputs each time; no epoch may be frozen into
// it.
template <class W>
void capture_and_replay(W& world, Errors& errors) {
  using T = std::int32_t;
  constexpr std::size_t n = 300;
  const auto in = world.template allocate<T>(n);
  const auto middle = world.template allocate<T>(n);
  const auto out = world.template allocate<T>(n);
  const Group group{world.channel({2}), world.team()};
  const LaunchConfig config = launch_of("captured", 2);
  world.begin_capture();
  world.launch(config, AllReduceKernel<Variant::two_shot, T, Sum>{group, in, middle, n});
  world.launch(config, AllReduceKernel<Variant::ring, T, Sum>{group, middle, out, n});
  const GraphId graph = world.end_capture();
  expect_equal(errors, who(world, "a capture runs nothing"), read_all(world, out, n),
               std::vector<T>(n, 0));
  for (int iteration = 1; iteration <= 4; ++iteration) {
    write_all(world, in, values<T>({iteration, world.pe(), world.n_pes()}, n));
    world.replay(graph);
    if (iteration == 3) world.replay(graph);  // twice in a row
    std::vector<T> wanted = combined<T>(iteration, world.team(), n, 0, Sum{});
    for (T& one : wanted) one *= world.n_pes();
    expect_equal(errors, who(world, "replay " + std::to_string(iteration)), read_all(world, out, n),
                 wanted);
    if (iteration == 2)
      world.launch(config, AllReduceKernel<Variant::one_shot_read, T, Sum>{group, in, middle, n});
  }
}

template <class W>
void two_streams(W& world, Errors& errors) {
  constexpr std::size_t n = 257;
  struct Side {
    Window<float> in, out;
    Group group;
  };
  std::vector<Side> sides;
  for (int stream = 0; stream < 2; ++stream) {
    const auto in = world.template allocate<float>(n);
    const auto out = world.template allocate<float>(n);
    sides.push_back({in, out, Group{world.channel({2}), world.team()}});
  }
  for (int iteration = 1; iteration <= 3; ++iteration) {
    for (int stream = 0; stream < 2; ++stream) {
      write_all(world, sides[static_cast<std::size_t>(stream)].in,
                values<float>({10 * iteration + stream, world.pe(), world.n_pes()}, n));
    }
    for (int launch = 0; launch < 2; ++launch) {
      for (int stream = 0; stream < 2; ++stream) {
        const Side& side = sides[static_cast<std::size_t>(stream)];
        world.launch(launch_of("sided", 2, stream), AllReduceKernel<Variant::two_shot, float, Sum>{
                                                        side.group, side.in, side.out, n});
      }
    }
    world.synchronize();
    for (int stream = 0; stream < 2; ++stream) {
      expect_equal(errors, who(world, "stream " + std::to_string(stream)),
                   read_all(world, sides[static_cast<std::size_t>(stream)].out, n),
                   combined<float>(10 * iteration + stream, world.team(), n, 0, Sum{}));
    }
  }
}

// Memory is zero however often it has been used before, and a peer may read it at once.
template <class W>
void allocate_free_allocate(W& world, Errors& errors) {
  const Group group{world.channel({1}), world.team()};
  const auto out = world.template allocate<float>(5000);
  for (std::size_t n : {1000, 5000, 10, 5000, 0, 1}) {
    const auto window = world.template allocate<float>(n);
    const auto control = world.template allocate_control<float>(n);
    const std::vector<float> zero(n, 0.0F);
    expect_equal(errors, who(world, "fresh control"), read_all(world, control, n), zero);
    write_all(world, out, poison<float>(n));
    world.launch(launch_of("fresh"),
                 AllReduceKernel<Variant::one_shot_read, float, Sum>{group, window, out, n});
    expect_equal(errors, who(world, "fresh payload of all PEs"), read_all(world, out, n), zero);
    write_all(world, window, poison<float>(n));
    write_all(world, control, poison<float>(n));
    world.free(window);
    world.free(control);
  }
}

template <class W>
std::vector<Case<W>> launch_cases() {
  return {{"barrier_repeated", {1, 3, 8}, barrier_repeated<W>},
          {"back_to_back", {2, 5}, back_to_back<W>},
          {"capture_and_replay", {1, 3}, capture_and_replay<W>},
          {"two_streams", {2, 3}, two_streams<W>},
          {"allocate_free_allocate", {1, 3}, allocate_free_allocate<W>}};
}

}  // namespace sym::conformance
