// Where the microseconds of the fused all-reduce + RMSNorm go: kernels of which each has one part
// more than the one before, a row a block, timed as graphs.
#include <cstdio>
#include <string_view>

#include "backends/cuda/launch.cuh"
#include "backends/cuda/runner.hpp"
#include "core/collective/all_reduce.hpp"
#include "core/collective/rms_norm.hpp"

namespace {

using namespace sym;

enum class Part { empty, bare, received, residual, squares, result, whole, norm };

template <Part part>
struct Kernel {
  Group group;
  RmsNorm<Window<bf16>, true> norm;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    if constexpr (part != Part::norm) block.enter(group.channel);
    if constexpr (part == Part::bare)
      all_reduce_one_shot(block, group, norm.in, norm.out, norm.rows * norm.hidden, Sum{});
    if constexpr (part >= Part::received && part <= Part::result) one_row(block);
    if constexpr (part == Part::whole) all_reduce_rms_norm_one_shot(block, group, norm);
    if constexpr (part == Part::norm) rms_norm(block, norm);
    if constexpr (part != Part::norm) block.leave(group.channel);
  }

 private:
  template <Block B>
  SYM_FN void one_row(B& block) const {
    const Packets& inbox = group.channel.inbox;
    const std::size_t slot = static_cast<std::size_t>(block.index());
    const std::size_t first = slot * norm.hidden;
    const Window<bf16> in = norm.in.at(first);
    block.put_packets(inbox, slot, in, norm.row(), group.team);
    block.quiet();
    const auto add = [&](auto... more) {
      block.reduce_packets(norm.x_row(), in, norm.row(), inbox, slot, group.team, Sum{},
                           detail::AddAll{}, more...);
    };
    if constexpr (part == Part::received) add(norm.bias);
    if constexpr (part >= Part::residual) add(norm.residual.at(first), norm.bias);
    if constexpr (part == Part::squares) {
      const float squares = block.sum(norm.x_row(), norm.row(), detail::Square{});
      if (squares < 0) block.sync();  // never: what was added up is needed
    }
    const detail::Normaliser<float> make{static_cast<float>(norm.hidden), norm.epsilon};
    if constexpr (part == Part::result)
      block.transform_by_sum(norm.out.at(first), norm.row(), detail::Square{}, make, norm.x_row(),
                             norm.weight);
  }
};

template <Part part>
double time_us(cuda::CudaWorld& world, const Kernel<part>& kernel, int threads) {
  LaunchConfig config;
  config.name = "ablation";
  config.blocks = static_cast<int>(kernel.norm.rows);
  config.threads = threads;
  config.scratch_bytes = kernel.norm.scratch_bytes();
  config.early = true;
  world.begin_capture();
  for (int i = 0; i < 40; ++i) world.launch(config, kernel);
  const GraphId graph = world.end_capture();
  return world.time_graph_us(graph, 5) / 40;
}

template <Part... parts>
void row(cuda::CudaWorld& world, const Group& group, const RmsNorm<Window<bf16>, true>& norm,
         int threads) {
  const double t[] = {time_us(world, Kernel<parts>{group, norm}, threads)...};
  if (world.pe() != 0) return;
  std::printf("%6zu %6zu %7d", norm.hidden, norm.rows, threads);
  for (double one : t) std::printf(" %8.2f", one);
  std::printf("\n");
}

void study(cuda::CudaWorld& world) {
  constexpr std::size_t most = 16384, rows = 32;
  RmsNorm<Window<bf16>, true> norm;
  norm.in = world.allocate<bf16>(rows * most);
  norm.out = world.allocate<bf16>(rows * most);
  norm.residual = world.allocate<bf16>(rows * most);
  norm.bias = world.allocate<bf16>(most);
  norm.weight = world.allocate<bf16>(most);
  const Group group{world.channel({static_cast<int>(rows), most * 2 + 16}), world.team()};
  if (world.pe() == 0)
    std::printf("%6s %6s %7s %8s %8s %8s %8s %8s %8s %8s %8s\n", "hidden", "rows", "threads",
                "empty", "bare", "received", "residual", "squares", "result", "whole", "norm");
  const struct {
    std::size_t hidden, rows;
    int threads;
  } points[] = {{1024, 4, 128},  {1024, 32, 128}, {1024, 32, 64},  {4096, 1, 512},
                {4096, 32, 512}, {4096, 32, 256}, {4096, 32, 192}, {4096, 32, 128},
                {7168, 4, 448},  {7168, 4, 320},  {7168, 4, 512},  {16384, 4, 512}};
  for (const auto& [hidden, count, threads] : points) {
    norm.hidden = hidden;
    norm.rows = count;
    row<Part::empty, Part::bare, Part::received, Part::residual, Part::squares, Part::result,
        Part::whole, Part::norm>(world, group, norm, threads);
  }
}

}  // namespace

// norm_ablation [GPUS]: two PEs on two GPUs, or, with 1, sharing one: without a link, but what
// comes after the sum is the same.
int main(int argc, char** argv) {
  const int gpus = argc > 1 && std::string_view(argv[1]) == "1" ? 1 : 2;
  sym::cuda::prepare_environment(2, gpus);
  return sym::cuda::run_cuda(2, gpus, study);
}
