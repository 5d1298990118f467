// put_packets and reduce_packets: data with its own flag.
#pragma once

#include "core/collective/all_reduce.hpp"
#include "tests/conformance/harness.hpp"

namespace sym::conformance {

// One-shot all-reduce on any memory, several in one launch.
template <class In, class Out, class Op>
struct OneShots {
  Group group;
  In in;
  Out out;
  std::size_t n;
  int times;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    block.enter(group.channel);
    for (int i = 0; i < times; ++i) all_reduce_one_shot(block, group, in, out, n, Op{});
    block.leave(group.channel);
  }
};

// Local and symmetric memory, in place (what comes out is reduced again), an inbox of one granule.
template <class T, class W>
void packets_everywhere(W& world, Errors& errors) {
  constexpr std::size_t n = 131;
  const Group tiny{world.channel({2, 16}), world.team()};
  const Group ample{world.channel({1, 2048}), world.team()};
  const auto local = world.template local<T>(n);
  const auto result = world.template local<T>(n);
  const auto window = world.template allocate<T>(n);
  for (int iteration = 1; iteration <= 3; ++iteration) {
    const std::vector<T> mine = values<T>({iteration, world.pe(), world.n_pes()}, n);
    const std::vector<T> once = combined<T>(iteration, world.team(), n, 0, Sum{});
    std::vector<T> twice(n);
    for (std::size_t i = 0; i < n; ++i) {
      twice[i] = narrow<T>(
          static_cast<Accumulator<T>>(widen(once[i]) * static_cast<Accumulator<T>>(world.n_pes())));
    }
    write_all(world, local, mine);
    write_all(world, window, mine);
    write_all(world, result, poison<T>(n));
    world.launch(launch_of("tiny", 2),
                 OneShots<Local<T>, Local<T>, Sum>{tiny, local, result, n, 3});
    world.launch(launch_of("ample"),
                 OneShots<Window<T>, Window<T>, Sum>{ample, window, window, n, 2});
    world.launch(launch_of("tiny", 2), OneShots<Local<T>, Local<T>, Sum>{tiny, local, local, n, 1});
    expect_equal(errors, who(world, "local"), read_all(world, result, n), once);
    expect_equal(errors, who(world, "window, in place, twice"), read_all(world, window, n), twice);
    expect_equal(errors, who(world, "local, in place"), read_all(world, local, n), once);
  }
}

template <class W>
std::vector<Case<W>> packets_cases() {
  return {{"f32", {1, 2, 5, 8}, packets_everywhere<float, W>},
          {"i64", {3}, packets_everywhere<std::int64_t, W>},
          {"u8", {2}, packets_everywhere<std::uint8_t, W>}};
}

}  // namespace sym::conformance
