// Where the microseconds of a small dispatch and combine go: each launch alone, and parts of the
// plan, timed as graphs.
#include <cstdio>

#include "backends/cuda/launch.cuh"
#include "backends/cuda/runner.hpp"
#include "core/moe/combine.hpp"
#include "core/moe/dispatch.hpp"

namespace {

using namespace sym;
using Ids = Window<std::int32_t>;
using Weights = Window<float>;

// The plan's verbs, up to the `part`-th of them.
enum class Part { empty, claim, tally, max, exchange, sums, scan };

template <Part part>
struct Plan {
  MoeTables t;
  Routing<Ids, Weights> routing;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    const std::size_t columns = row_stride(static_cast<std::size_t>(t.experts.count) + 1);
    const Range choices{0, routing.tokens * t.topk};
    const Scratch<std::uint32_t> totals{0, columns};
    const Scratch<std::uint32_t> before{columns * 4, columns};
    const Scratch<std::uint32_t> starts{columns * 8, columns};
    if constexpr (part >= Part::claim) block.enter(t.group.channel);
    if constexpr (part >= Part::tally) {
      block.transform(totals, totals.all(), detail::Constant<std::uint32_t>{0});
      block.tally(totals, routing.ids, choices);
    }
    if constexpr (part == Part::max) block.max(routing.weights, choices, detail::NotANumber{});
    if constexpr (part >= Part::exchange) exchange_rows(block, t.group, t.table, columns);
    if constexpr (part >= Part::sums) sum_rows(block, t.group.team, t.table, totals, before);
    if constexpr (part >= Part::scan) {
      block.scan(starts, totals, Range{0, t.experts.count}, detail::RoundUp{1});
    }
    if constexpr (part >= Part::claim) block.leave(t.group.channel);
  }
};

template <class Kernel>
double time_us(cuda::CudaWorld& world, const Kernel& kernel, int blocks, std::size_t scratch) {
  LaunchConfig config;
  config.name = "ablation";
  config.blocks = blocks;
  config.scratch_bytes = scratch;
  world.begin_capture();
  for (int i = 0; i < 20; ++i) world.launch(config, kernel);
  const GraphId graph = world.end_capture();
  return world.time_graph_us(graph, 5) / 20;
}

void study(cuda::CudaWorld& world) {
  constexpr std::size_t most = 128;
  MoeRequest request{most, 8, 256, 1, 7168};
  request.blocks = 132;
  auto moe = moe_channel(world, request);
  const MoeTables& t = moe.tables;
  const auto rows = world.allocate<bf16>(moe.request.capacity * t.hidden);
  const auto x = world.allocate<bf16>(most * t.hidden);
  const auto out = world.allocate<bf16>(most * t.hidden);
  const auto ids = world.allocate_control<std::int32_t>(most * 8);
  const auto weights = world.allocate_control<float>(most * 8);
  std::vector<std::int32_t> chosen;
  for (std::size_t i = 0; i < most * 8; ++i) chosen.push_back(static_cast<int>(i * 37 % 256));
  world.write(ids, chosen.data(), chosen.size());
  const std::size_t scratch = moe_plan_scratch(256);
  if (world.pe() == 0)
    std::printf("%6s %6s %6s %6s %6s %6s %6s %6s | %6s | %6s %6s %6s: us\n", "tokens", "empty",
                "claim", "tally", "max", "exch", "sums", "scan", "plan", "blocks", "send",
                "combine");
  for (const std::size_t tokens : {std::size_t{0}, std::size_t{1}, std::size_t{16}, most}) {
    const Routing<Ids, Weights> routing{ids, weights, tokens};
    const double parts[] = {time_us(world, Plan<Part::empty>{t, routing}, 1, scratch),
                            time_us(world, Plan<Part::claim>{t, routing}, 1, scratch),
                            time_us(world, Plan<Part::tally>{t, routing}, 1, scratch),
                            time_us(world, Plan<Part::max>{t, routing}, 1, scratch),
                            time_us(world, Plan<Part::exchange>{t, routing}, 1, scratch),
                            time_us(world, Plan<Part::sums>{t, routing}, 1, scratch),
                            time_us(world, Plan<Part::scan>{t, routing}, 1, scratch)};
    const double plan = time_us(world, MoePlan<Ids, Weights>{t, routing}, 1, scratch);
    for (const int blocks : {16, 64, 132}) {
      const double send =
          time_us(world, MoeSend<bf16, Window<bf16>, Ids, Weights>{t, routing, x, rows}, blocks,
                  moe_send_scratch(256));
      const double combine = time_us(
          world, MoeCombine<bf16, Window<bf16>, Ids, Weights>{t, routing, rows, out}, blocks, 0);
      if (world.pe() != 0) continue;
      std::printf("%6zu", tokens);
      for (const double one : parts) std::printf(" %6.2f", one);
      std::printf(" | %6.2f | %6d %6.2f %6.2f\n", plan, blocks, send, combine);
    }
  }
}

}  // namespace

int main() {
  sym::cuda::prepare_environment(2, 2);
  return sym::cuda::run_cuda(2, 2, study);
}
