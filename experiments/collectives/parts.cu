// Where the microseconds of collectives by packets go: kernels that leave one part out, and grids,
// timed as graphs on two GPUs.
#include <cstdio>

#include "backends/cuda/launch.cuh"
#include "backends/cuda/runner.hpp"
#include "core/collective/all_gather.hpp"
#include "core/collective/all_reduce.hpp"

namespace {

using namespace sym;

enum class Part { empty, claim, unclaimed, whole, gather };

template <Part part>
struct Kernel {
  Group group;
  Window<bf16> in, out;
  std::size_t n;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    constexpr bool claims = part != Part::empty && part != Part::unclaimed;
    if constexpr (claims) block.enter(group.channel);
    if constexpr (part == Part::unclaimed || part == Part::whole)
      all_reduce_one_shot(block, group, in, out, n, Sum{});
    if constexpr (part == Part::gather) all_gather_one_shot(block, group, in, out, n / 2);
    if constexpr (claims) block.leave(group.channel);
  }
};

struct Point {
  std::size_t bytes;
  int blocks, threads;
};

template <Part part>
double time_us(cuda::CudaWorld& world, const Kernel<part>& kernel, const Point& point, bool early) {
  LaunchConfig config;
  config.name = "part";
  config.blocks = point.blocks;
  config.threads = point.threads;
  config.early = early;
  world.begin_capture();
  for (int i = 0; i < 40; ++i) world.launch(config, kernel);
  const GraphId graph = world.end_capture();
  return world.time_graph_us(graph, 7) / 40;
}

void study(cuda::CudaWorld& world) {
  const std::size_t most = std::size_t{1} << 22;
  const auto in = world.allocate<bf16>(most);
  const auto out = world.allocate<bf16>(most);
  const Group group{world.channel({132, 65536}), world.team()};
  if (world.pe() == 0)
    std::printf("%8s %6s %7s %7s %7s %9s %7s %7s | late: %7s %7s\n", "bytes", "blocks", "threads",
                "empty", "claim", "unclaimed", "whole", "gather", "empty", "whole");
  const Point points[] = {
      {1024, 1, 64},       {1024, 1, 128},      {1024, 1, 512},     {1024, 2, 32},
      {4096, 1, 256},      {4096, 2, 128},      {4096, 4, 64},      {16384, 2, 512},
      {16384, 4, 256},     {16384, 8, 128},     {16384, 16, 64},    {65536, 8, 512},
      {65536, 16, 256},    {65536, 32, 128},    {65536, 64, 64},    {65536, 22, 64},
      {65536, 16, 128},    {262144, 32, 512},   {262144, 64, 256},  {262144, 128, 128},
      {262144, 11, 512},   {262144, 22, 256},   {262144, 43, 128},  {262144, 64, 128},
      {1048576, 43, 512},  {1048576, 86, 256},  {1048576, 64, 512}, {1048576, 128, 256},
      {1048576, 128, 512}, {1048576, 132, 384}, {4194304, 86, 512}, {4194304, 128, 512},
      {4194304, 132, 512}, {4194304, 132, 384}};
  for (const Point& at : points) {
    const std::size_t n = at.bytes / 2;
    const double t[] = {time_us(world, Kernel<Part::empty>{group, in, out, n}, at, true),
                        time_us(world, Kernel<Part::claim>{group, in, out, n}, at, true),
                        time_us(world, Kernel<Part::unclaimed>{group, in, out, n}, at, true),
                        time_us(world, Kernel<Part::whole>{group, in, out, n}, at, true),
                        time_us(world, Kernel<Part::gather>{group, in, out, n}, at, true),
                        time_us(world, Kernel<Part::empty>{group, in, out, n}, at, false),
                        time_us(world, Kernel<Part::whole>{group, in, out, n}, at, false)};
    if (world.pe() != 0) continue;
    std::printf("%8zu %6d %7d %7.2f %7.2f %9.2f %7.2f %7.2f |       %7.2f %7.2f\n", at.bytes,
                at.blocks, at.threads, t[0], t[1], t[2], t[3], t[4], t[5], t[6]);
    std::fflush(stdout);
  }
}

}  // namespace

int main() {
  sym::cuda::prepare_environment(2, 2);
  return sym::cuda::run_cuda(2, 2, study);
}
