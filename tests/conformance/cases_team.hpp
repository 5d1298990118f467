// Teams: strict subsets while the others idle, listed and reversed, and teams that overlap.
#pragma once

#include "tests/conformance/cases_collective.hpp"

namespace sym::conformance {

// Every variant on one team; PEs that are not in it launch nothing.
template <class T, class W>
void on_team(Collectives<T, W>& collectives, const Team& team) {
  for (std::size_t n : {0, 5, 700}) {
    collectives.template reductions<Sum>(team, n, 2);
    collectives.movements(team, n, 2);
  }
}

template <class W>
void strict_teams(W& world, Errors& errors) {
  Collectives<float, W> collectives(world, errors, 700);
  const int pes = world.n_pes();
  on_team(collectives, Team::strided(world.pe(), 1, 2, pes / 2));  // the odd ones
  on_team(collectives, world.team({pes - 1, 0, 2}));
  on_team(collectives, world.team({1}));
  on_team(collectives, world.team({pes - 2, pes - 1}));
}

// The first and the last P-1 PEs, one after the other, with a channel and windows each: no order
// between them is needed.
template <class W>
void overlapping_own_channels(W& world, Errors& errors) {
  Collectives<float, W> first(world, errors, 700);
  Collectives<float, W> second(world, errors, 700);
  const int pes = world.n_pes();
  const Team low = Team::strided(world.pe(), 0, 1, pes - 1);
  const Team high = Team::strided(world.pe(), 1, 1, pes - 1);
  for (int round = 0; round < 2; ++round) {
    on_team(first, low);
    on_team(second, high);
  }
}

// The same on one channel and one set of windows: expectations are kept for each pair of PEs, and
// both ends of each pair agree on the order.
template <class W>
void overlapping_one_channel(W& world, Errors& errors) {
  Collectives<float, W> collectives(world, errors, 700);
  const int pes = world.n_pes();
  for (int round = 0; round < 2; ++round) {
    on_team(collectives, Team::strided(world.pe(), 0, 1, pes - 1));
    on_team(collectives, Team::strided(world.pe(), 1, 1, pes - 1));
    on_team(collectives, world.team());
  }
}

template <class W>
void bad_members_are_refused(W& world, Errors& errors) {
  for (const std::vector<int>& members : {std::vector<int>{0, 0}, {-1}, {0, world.n_pes()}}) {
    try {
      (void)world.team(members);
      errors.add("a team with a bad member was made");
    } catch (const UsageError& error) {
      if (std::string(error.what()).find("member") == std::string::npos) errors.add(error.what());
    }
  }
}

template <class W>
std::vector<Case<W>> team_cases() {
  const Effort all = Effort::every_schedule;
  return {{"strict", {5, 8}, strict_teams<W>, all, 5},
          {"overlapping_own_channels", {3, 6}, overlapping_own_channels<W>, all, 3},
          {"overlapping_one_channel", {3, 7}, overlapping_one_channel<W>, all, 3},
          {"bad_members", {2}, bad_members_are_refused<W>}};
}

}  // namespace sym::conformance
