// A user's program with a planted bug: `sym_caught run missing_entry_barrier --backend check`
// reports a race that never shows in the data. An all-reduce that prepares its own input, and then
// reads its peers' without waiting for them: each PE's input is the same every time, so stale
// values are right.
//
// `missing_entry_barrier_fixed` has the barrier, and passes.
#include <cstdlib>
#include <vector>

#include "backends/fiber/world.hpp"
#include "backends/thread/world.hpp"
#include "core/collective/barrier.hpp"
#include "core/collective/share.hpp"
#include "experiments/sym/pattern.hpp"
#include "experiments/sym/registry.hpp"

namespace {

using sym::Block;
using sym::Group;
using sym::Local;
using sym::Range;
using sym::Window;
using sym::World;
using sym::command::Point;
using sym::command::PointResult;

template <bool fixed>
struct PreparesAndReduces {
  Group group;
  Local<float> source;
  Window<float> in, out;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    const Range mine = sym::chunk(in.all(), block.index(), block.count());
    block.enter(group.channel);
    block.transform(in, mine, sym::detail::Identity{}, source);
    if constexpr (fixed) barrier(block, group);  // what is missing: every peer's input is ready
    block.reduce(out, in, mine, group.team, sym::Sum{});
    barrier(block, group);
    block.leave(group.channel);
  }
};

template <bool fixed, World W>
PointResult program(W& world, const Point& point) {
  const std::size_t n = point.bytes / sizeof(float);
  const auto in = world.template allocate<float>(n);
  const auto out = world.template allocate<float>(n);
  const auto source = world.template local<float>(n);
  const Group group{world.channel({point.blocks}), world.team()};
  std::vector<std::vector<float>> inputs;
  std::vector<float> mine(n);
  for (int pe = 0; pe < world.n_pes(); ++pe) {
    inputs.push_back(
        sym::command::exact_pattern<float, sym::Sum>({point.seed, 0, world.n_pes()}, pe));
  }
  sym::command::fill(mine.data(), n, inputs[static_cast<std::size_t>(world.pe())], 0);
  world.write(source, mine.data(), n);
  world.write(in, mine.data(), n);  // so that even a peer that looks at once sees the right values
  world.barrier();
  PointResult result;
  result.count = n;
  result.bytes = point.bytes;
  std::vector<float> wanted(n), got(n);
  sym::command::fill(wanted.data(), n, sym::command::reduced(inputs, sym::Sum{}), 0);
  for (int iteration = 0; iteration < point.iterations; ++iteration) {
    sym::LaunchConfig config;
    config.name = "planted";
    config.blocks = point.blocks;
    world.launch(config, PreparesAndReduces<fixed>{group, source, in, out});
    world.read(got.data(), out, n);
    for (std::size_t i = 0; i < n; ++i) result.wrong += got[i] == wanted[i] ? 0 : 1;
  }
  result.hash = sym::command::hash_bytes(got.data(), n * sizeof(float));
  return result;
}

template <bool fixed>
sym::command::Algorithm algorithm(const char* name, const char* summary) {
  sym::command::Algorithm one;
  one.name = name;
  one.summary = summary;
  one.variants = {"planted"};
  one.has_op = false;
  one.has_bound = false;
  one.thread = program<fixed, sym::thread::ThreadWorld>;
  one.fiber = program<fixed, sym::fiber::FiberWorld>;
  return one;
}

}  // namespace

int main(int argc, char** argv) {
  sym::command::Registry registry;
  registry.add(algorithm<false>("missing_entry_barrier",
                                "an all-reduce that does not wait for its peers' input"));
  registry.add(algorithm<true>("missing_entry_barrier_fixed", "the same, repaired"));
  if (std::getenv("SYM_TEST_TWICE") != nullptr)  // a name that is shipped: tests/cli/usage.sh
    registry.add(algorithm<true>("all_to_all", "not the shipped one"));
  return sym::command::main_command(argc, argv, registry);
}
