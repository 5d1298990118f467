// What race detection costs: each program under the `fifo` schedule, without the detector (0) and
// with it (1). Counters: accesses, and the bytes that the detector held at most, about.
//   bulk_SIZE/PES/BLOCKS  three launches of the ring all_reduce, SIZE a PE: few accesses, many
//   bytes scalar/PES/BLOCKS     every block reads and writes elements one by one, and signals its
//   neighbour barrier/PES/BLOCKS    three barriers among all PEs: clocks, and hardly anything else
#include <benchmark/benchmark.h>

#include "backends/check/run.hpp"
#include "core/collective/all_reduce.hpp"

namespace {

using namespace sym;
using fiber::FiberBlock;
using fiber::FiberWorld;

template <std::size_t mib>
void bulk(FiberWorld& world, int blocks) {
  constexpr std::size_t n = mib << 18;
  const auto in = world.allocate<float>(n);
  const auto out = world.allocate<float>(n);
  const Group group{world.channel({blocks}), world.team()};
  for (int launch = 0; launch < 3; ++launch) {
    world.launch({.name = "bulk", .blocks = blocks}, [=](FiberBlock& block) {
      block.enter(group.channel);
      all_reduce_ring(block, group, in, out, n, Sum{});
      block.leave(group.channel);
    });
  }
}

void scalar(FiberWorld& world, int blocks) {
  constexpr std::size_t each = 64;
  const auto in = world.allocate<float>(each * static_cast<std::size_t>(blocks));
  const auto out = world.allocate<float>(each * static_cast<std::size_t>(blocks));
  const Group group{world.channel({blocks}), world.team()};
  for (int launch = 0; launch < 3; ++launch) {
    world.launch({.name = "scalar", .blocks = blocks}, [=](FiberBlock& block) {
      const auto slot = static_cast<std::size_t>(block.index());
      const int next = group.team.pe(group.team.next());
      block.enter(group.channel);
      if (!barrier(block, group)) return;
      for (std::size_t i = slot * each; i < (slot + 1) * each; ++i) {
        block.put_value(out, i, block.read(in, i), next);
      }
      block.quiet();
      block.signal(group.channel.steps, slot, next);
      if (!block.wait_until(group.channel.steps, slot, group.team.only(group.team.previous())))
        return;
      for (std::size_t i = slot * each; i < (slot + 1) * each; ++i) (void)block.read(out, i);
      block.leave(group.channel);
    });
  }
}

void barriers(FiberWorld& world, int blocks) {
  const Group group{world.channel({blocks}), world.team()};
  world.launch({.name = "barriers", .blocks = blocks}, [=](FiberBlock& block) {
    for (int k = 0; k < 3; ++k) {
      if (!barrier(block, group)) return;
    }
  });
}

void measure(benchmark::State& state, void (*program)(FiberWorld&, int)) {
  check::CheckOptions options;
  options.pes = static_cast<int>(state.range(0));
  options.schedule = "fifo";
  options.detect_races = state.range(2) != 0;
  const int blocks = static_cast<int>(state.range(1));
  check::CheckReport report;
  for (auto step : state) {
    report = check::run_check(options, [&](FiberWorld& world) { program(world, blocks); });
    if (!report.clean()) state.SkipWithError("a finding");
  }
  state.counters["accesses"] = static_cast<double>(report.accesses);
  state.counters["bytes"] = static_cast<double>(report.detector_bytes);
}

void add(const char* name, void (*program)(FiberWorld&, int), std::int64_t pes,
         std::int64_t blocks) {
  for (const std::int64_t detect : {0, 1}) {
    benchmark::RegisterBenchmark(name, [=](benchmark::State& state) { measure(state, program); })
        ->Args({pes, blocks, detect})
        ->Unit(benchmark::kMillisecond)
        ->Iterations(pes * blocks > 1000 ? 1 : 3);
  }
}

const bool added = [] {
  add("bulk_1M", bulk<1>, 8, 8);
  add("bulk_1M", bulk<1>, 64, 32);  // 512 bytes a verb
  add("bulk_4M", bulk<4>, 64, 32);
  add("bulk_16M", bulk<16>, 64, 32);
  add("scalar", scalar, 8, 8);
  add("scalar", scalar, 64, 32);
  add("barrier", barriers, 64, 32);
  add("barrier", barriers, 512, 4);
  return true;
}();

}  // namespace
