// The smallest program for the checker: one kernel, one host program, one line of CMake
// (sym_add_checked_kernel). Each PE sends a row to its right neighbour, which doubles it.
#include <vector>

#include "backends/check/user.hpp"
#include "core/collective/barrier.hpp"

struct Neighbour {
  sym::Group group;
  sym::Window<float> in, arrived, out;

  template <sym::Block B>
  SYM_FN void operator()(B& block) const {
    const sym::Team& team = group.team;
    const sym::Signals& steps = group.channel.steps;
    const auto slot = static_cast<std::size_t>(block.index());
    const sym::Range part = sym::chunk(in.all(), block.index(), block.count());
    if (!barrier(block, group)) return;  // the neighbour has read what arrived the last time
    block.put_signal(arrived, in, part, steps, slot, team.pe(team.next()));
    if (!block.wait_until(steps, slot, team.only(team.previous()))) return;
    block.quiet();  // the input may be rewritten; of one PE alone, its own row has arrived
    block.transform(
        out, part, [](float x) { return 2 * x; }, arrived);
  }
};

// The host program of one PE. Not only of the checker's: it is right in every world.
template <sym::World W>
void program(W& world) {
  const std::size_t n = 1000;
  const auto in = world.template allocate<float>(n);
  const auto arrived = world.template allocate<float>(n);
  const auto out = world.template allocate<float>(n);
  const sym::Group group{world.channel({.blocks = 2}), world.team()};
  sym::LaunchConfig config;
  config.name = "neighbour";
  config.blocks = 2;
  for (int launch = 0; launch < 3; ++launch) {  // reuse shows at the third launch
    const std::vector<float> mine(n, static_cast<float>(launch * 100 + world.pe()));
    world.write(in, mine.data(), n);
    world.launch(config, Neighbour{group, in, arrived, out});
    std::vector<float> got(n);
    world.read(got.data(), out, n);
    const int left = (world.pe() + world.n_pes() - 1) % world.n_pes();
    const auto wanted = static_cast<float>(2 * (launch * 100 + left));
    if (got != std::vector<float>(n, wanted)) {
      throw sym::Failure("PE " + std::to_string(world.pe()) + " has not got its neighbour's row");
    }
  }
}

int main(int argc, char** argv) {
  return sym::check::check_main(argc, argv, program<sym::fiber::FiberWorld>);
}
