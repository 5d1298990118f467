// Where the microseconds of a small all-reduce go: kernels that leave one part out, timed as
// graphs.
#include <cstdio>

#include "backends/cuda/launch.cuh"
#include "backends/cuda/runner.hpp"
#include "core/collective/all_reduce.hpp"

namespace {

using namespace sym;

enum class Part { empty, claim, one_barrier, two_barriers, reduce_alone, read, unclaimed, whole };

template <Part part>
struct Kernel {
  Group group;
  Window<bf16> in, out;
  std::size_t n;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    constexpr bool claims = part == Part::claim || part == Part::whole;
    if constexpr (claims) block.enter(group.channel);
    if constexpr (part == Part::one_barrier || part == Part::two_barriers) barrier(block, group);
    if constexpr (part == Part::two_barriers) barrier(block, group);
    if constexpr (part == Part::reduce_alone) {
      block.reduce(out, in, rows_of<bf16>(block, n)(0), group.team, Sum{});
    }
    if constexpr (part == Part::read) {
      all_reduce_one_shot_read(block, group, in, out, n, Sum{});
    }
    if constexpr (part == Part::unclaimed || part == Part::whole) {
      all_reduce_one_shot(block, group, in, out, n, Sum{});
    }
    if constexpr (claims) block.leave(group.channel);
  }
};

template <Part part>
double time_us(cuda::CudaWorld& world, const Kernel<part>& kernel, int blocks, int threads) {
  world.begin_capture();
  for (int i = 0; i < 40; ++i) world.launch({"ablation", blocks, threads}, kernel);
  const GraphId graph = world.end_capture();
  return world.time_graph_us(graph, 5) / 40;
}

void study(cuda::CudaWorld& world) {
  const std::size_t n = std::size_t{1} << 20;
  const auto in = world.allocate<bf16>(n);
  const auto out = world.allocate<bf16>(n);
  const Group group{world.channel({32, 65536}), world.team()};
  if (world.pe() == 0)
    std::printf("%8s %7s %8s %7s %7s %8s %8s %8s %8s %9s %7s\n", "bytes", "blocks", "threads",
                "empty", "claim", "barrier", "barriers", "reduce", "read", "unclaimed", "whole");
  const struct {
    std::size_t bytes;
    int blocks, threads;
  } points[] = {{1024, 1, 128},  {1024, 1, 256},   {1024, 1, 512},
                {16384, 1, 512}, {16384, 2, 512},  {16384, 4, 256},
                {65536, 8, 512}, {65536, 16, 256}, {65536, 4, 512}};
  for (const auto& [bytes, blocks, threads] : points) {
    const std::size_t count = bytes / 2;
    const double t[] = {
        time_us(world, Kernel<Part::empty>{group, in, out, count}, blocks, threads),
        time_us(world, Kernel<Part::claim>{group, in, out, count}, blocks, threads),
        time_us(world, Kernel<Part::one_barrier>{group, in, out, count}, blocks, threads),
        time_us(world, Kernel<Part::two_barriers>{group, in, out, count}, blocks, threads),
        time_us(world, Kernel<Part::reduce_alone>{group, in, out, count}, blocks, threads),
        time_us(world, Kernel<Part::read>{group, in, out, count}, blocks, threads),
        time_us(world, Kernel<Part::unclaimed>{group, in, out, count}, blocks, threads),
        time_us(world, Kernel<Part::whole>{group, in, out, count}, blocks, threads)};
    if (world.pe() != 0) continue;
    std::printf("%8zu %7d %8d", bytes, blocks, threads);
    for (double one : t) std::printf(" %7.2f", one);
    std::printf("\n");
  }
}

}  // namespace

int main() {
  sym::cuda::prepare_environment(2, 2);
  return sym::cuda::run_cuda(2, 2, study);
}
