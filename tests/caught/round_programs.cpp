// Producers that are a round ahead of their consumers, and consumers that wait for another one.
#include "core/collective/share.hpp"
#include "tests/caught/caught.hpp"

namespace sym::caught {

namespace {

constexpr Range all{0, Desk::n};

// Each round's put_signal is complete before the next, and nobody says that it has been read.
struct Laps {
  Desk desk;
  std::uint64_t first, rounds;  // from 1, those of this launch
  bool fixed;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    for (std::uint64_t round = first; round < first + rounds; ++round) {
      if (block.pe() == 0) {
        if (fixed && round > 1) block.wait_until(desk.counter, 1, round - 1);
        block.put_signal(desk.a, desk.b, all, desk.counter, 0, 1);
        block.quiet();
      } else {
        block.wait_until(desk.counter, 0, round);
        block.transform(desk.out, all, detail::Identity{}, desk.a);
        if (fixed) block.signal(desk.counter, 1, 0);
      }
    }
  }
};
void lap_in_a_loop(FiberWorld& world, bool fixed) {
  const Desk desk(world);
  world.launch(launch_of("planted"), Laps{desk, 1, 3, fixed});
}
// The end of a launch is no credit: the PEs do not wait for each other there.
void lap_over_launches(FiberWorld& world, bool fixed) {
  const Desk desk(world);
  for (std::uint64_t round = 1; round <= 3; ++round) {
    world.launch(launch_of("planted"), Laps{desk, round, 1, fixed});
  }
}

// All send to all, and the wait is for one of them.
struct WaitsForOne {
  Desk desk;
  bool fixed;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    const Team& team = desk.group.team;
    const Signals& steps = desk.group.channel.steps;
    constexpr std::size_t width = 8;
    const auto mine = static_cast<std::size_t>(block.pe()) * width;
    for (int i = 1; i < block.n_pes(); ++i) {
      const int to = (block.pe() + i) % block.n_pes();
      block.put_signal(desk.a.at(mine), desk.b, Range{0, width}, steps, 0, to);
    }
    block.wait_until(steps, 0, team.only(team.previous()));
    if (fixed) block.wait_until(steps, 0, team.only(team.next()));
    for (const int member : {team.previous(), team.next()}) {
      const auto row = static_cast<std::size_t>(team.pe(member)) * width;
      block.transform(desk.out, Range{row, width}, detail::Identity{}, desk.a);
    }
    if (!fixed) block.wait_until(steps, 0, team.only(team.next()));
    block.quiet();
  }
};

}  // namespace

std::vector<Program> round_programs() {
  const std::vector<std::string> lap{"put_signal", "is of a later round than PE 1 has waited for",
                                     "let PE 1 signal back to PE 0"};
  return {{"lap_in_a_loop", "race", 2, lap_in_a_loop, lap},
          {"lap_over_launches", "race", 2, lap_over_launches, lap},
          {"waits_for_one",
           "race",
           3,
           one_launch_of<WaitsForOne>,
           {"wait for the signal of this put_signal first"},
           "it has waited neither for its signal nor"}};
}

}  // namespace sym::caught
