// Distributed GEMM: every schedule, any number of ranks, tiles of uneven size and empty ones,
// against exact integers.
//
// Calls follow each other without any synchronisation of the PEs by their hosts: operands are
// written anew, and D is poisoned, as soon as this PE's own call has ended. That is the contract.
#pragma once

#include <algorithm>

#include "core/gemm/instances.hpp"
#include "tests/conformance/distributed_gemm.hpp"

namespace sym::conformance {

template <class T, World W>
void products_of(W& world, Errors& errors, const std::string& name, const gemm::Extent& extent) {
  const gemm::Schedule schedule = gemm::find_schedule(name).make(world.n_pes(), {});
  const gemm::Tiling tiling = gemm::even_tiling(extent, schedule.parts);
  Products<T, W> plain(world, errors, schedule, tiling, {});
  plain.prepare();
  plain.calls(3, 0, false);
  Products<T, W> with_c(world, errors, schedule, tiling, {true, 0});
  with_c.calls(3, 1, true);
}

template <class W>
void gemm_with_few_buffers(W& world, Errors& errors) {
  for (const gemm::ScheduleMaker& maker : gemm::schedules()) {
    const gemm::Schedule schedule = maker.make(world.n_pes(), {});
    const gemm::Tiling tiling = gemm::even_tiling({37, 29, 41}, schedule.parts);
    Products<float, W> products(world, errors, schedule, tiling, {true, 2});
    products.calls(3, 1, false);
    products.free();
  }
}

// beta * C is added where D will be.
template <class W>
void gemm_in_place(W& world, Errors& errors) {
  for (const gemm::ScheduleMaker& maker : gemm::schedules()) {
    const gemm::Schedule schedule = maker.make(world.n_pes(), {});
    const gemm::Tiling tiling = gemm::even_tiling({37, 29, 41}, schedule.parts);
    Products<double, W> products(world, errors, schedule, tiling, {true, 0}, true);
    products.calls(2, 1, true);
    products.free();
  }
}

inline gemm::Cuts uneven_cuts(std::size_t extent, int parts, int seed) {
  gemm::Cuts cuts;
  cuts.at = {0, extent};
  for (int i = 1; i < parts; ++i)
    cuts.at.push_back(mixed(static_cast<std::uint64_t>(100 * seed + i)) % (extent + 1));
  std::sort(cuts.at.begin(), cuts.at.end());
  return cuts;
}

// Cut points anywhere: tiles of all sizes, also empty ones, and ranks that have nothing.
template <class W>
void gemm_with_uneven_cuts(W& world, Errors& errors) {
  for (int seed = 1; seed <= 3; ++seed) {
    for (const gemm::ScheduleMaker& maker : gemm::schedules()) {
      const gemm::Schedule schedule = maker.make(world.n_pes(), {});
      const gemm::Tiling tiling{uneven_cuts(31, schedule.parts.m, 3 * seed),
                                uneven_cuts(17, schedule.parts.n, 3 * seed + 1),
                                uneven_cuts(23, schedule.parts.k, 3 * seed + 2)};
      Products<float, W> products(world, errors, schedule, tiling, {true, 0});
      products.calls(2, 1, true);
      products.free();
    }
  }
}

// Captured once, replayed with other operands, and run besides.
template <class W>
void gemm_captured(W& world, Errors& errors) {
  for (const gemm::ScheduleMaker& maker : gemm::schedules()) {
    const gemm::Schedule schedule = maker.make(world.n_pes(), {});
    const gemm::Tiling tiling = gemm::even_tiling({37, 29, 41}, schedule.parts);
    Products<bf16, W> products(world, errors, schedule, tiling, {true, 2});
    products.choose(1, true);
    products.prepare();
    world.begin_capture();
    products.enqueue();
    const GraphId graph = world.end_capture();
    for (int call = 1; call <= 4; ++call) {
      products.fill(call);
      world.replay(graph);
      if (call == 2) world.replay(graph);  // twice in a row
      world.synchronize();
      products.expect(call);
      if (call == 3) products.calls(1, 1, true);
    }
    products.free();
  }
}

// --- schedules from outside the library ----------------------------------------------------------

// A rotates the other way round.
inline gemm::Schedule backwards(int pes) {
  gemm::Schedule s;
  s.name = "backwards";
  s.pes = pes;
  s.parts = {pes, pes, 1};
  s.steps = pes;
  s.tile = [pes](int d, int t) { return gemm::Tile{gemm::wrapped(d - t, pes), d, 0}; };
  return s;
}

// One tile of C, for which the ranks take turns, twice each and two products a turn; at the end it
// is wanted elsewhere.
inline gemm::Schedule relay(int pes) {
  gemm::Schedule s;
  s.name = "relay";
  s.pes = pes;
  s.parts = {1, 1, 4 * pes};
  s.steps = 4 * pes;
  s.tile = [pes](int rank, int step) -> std::optional<gemm::Tile> {
    if (step / 2 % pes != rank) return std::nullopt;
    return gemm::Tile{0, 0, step};
  };
  s.owner_c = [](int, int) { return 0; };
  return s;
}

template <class W>
void gemm_by_own_schedules(W& world, Errors& errors) {
  for (const gemm::Schedule& schedule : {backwards(world.n_pes()), relay(world.n_pes())}) {
    const gemm::Tiling tiling = gemm::even_tiling({37, 29, 41}, schedule.parts);
    Products<float, W> products(world, errors, schedule, tiling, {true, 2});
    products.calls(3, 1, true);
    products.free();
  }
}

template <class W>
void gemm_refuses(W& world, Errors& errors) {
  const int pes = world.n_pes();
  const auto refused = [&](const char* what, auto&& call) {
    try {
      call();
      errors.add(who(world, std::string(what) + " was not refused"));
    } catch (const UsageError&) {
    }
  };
  const gemm::Schedule schedule = gemm::ag_a(pes);
  const gemm::Tiling tiling = gemm::even_tiling({8, 8, 8}, schedule.parts);
  gemm::Runner<W, float> runner(world, gemm::derive(schedule, tiling));
  refused("a plan for more ranks", [&] {
    const gemm::Schedule more = gemm::ag_a(pes + 1);
    gemm::Runner<W, float>(world, gemm::derive(more, gemm::even_tiling({8, 8, 8}, more.parts)));
  });
  gemm::Operands<float> x;
  x.a = world.template allocate<float>(64);
  x.b = world.template allocate<float>(64);
  refused("a D that is too small", [&] { runner.run(x); });
  x.c = x.d = world.template allocate<float>(64);
  refused("a call that nothing was prepared for", [&] { runner.run(x); });
  x.beta = 1;
  refused("a C that the plan does not know", [&] { runner.run(x); });
  Products<float, W>(world, errors, schedule, tiling, {}).calls(1, 0, true);
}

template <class W>
std::vector<Case<W>> distributed_gemm_cases() {
  const std::vector<int> all{1, 2, 3, 4, 5, 6, 7, 8, 9};
  std::vector<Case<W>> cases;
  for (const gemm::ScheduleMaker& maker : gemm::schedules()) {
    const std::string name = maker.name;
    const auto add = [&](const char* suffix, Effort effort, auto program) {
      cases.push_back({name + suffix, all, program, effort});
    };
    add("_f32", Effort::worst_only, [name](W& world, Errors& errors) {
      products_of<float>(world, errors, name, {129, 61, 83});
    });
    add("_bf16", Effort::worst_only, [name](W& world, Errors& errors) {
      products_of<bf16>(world, errors, name, {129, 61, 83});
    });
    add("_small_bf16", Effort::every_schedule, [name](W& world, Errors& errors) {
      products_of<bf16>(world, errors, name, {5, 3, 2});
    });
  }
  cases.push_back({"few_buffers", {4, 5}, gemm_with_few_buffers<W>});
  cases.push_back({"in_place", {1, 3, 4}, gemm_in_place<W>});
  cases.push_back({"uneven_cuts", {2, 3, 6}, gemm_with_uneven_cuts<W>});
  cases.push_back({"captured", {1, 2, 3, 6}, gemm_captured<W>});
  cases.push_back({"own_schedules", {1, 2, 3, 4}, gemm_by_own_schedules<W>});
  cases.push_back({"refusals", {1, 3}, gemm_refuses<W>, Effort::worst_only});
  return cases;
}

}  // namespace sym::conformance
