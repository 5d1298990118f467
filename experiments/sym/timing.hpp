// How long one call takes, in any world.
#pragma once

#include <algorithm>
#include <vector>

#include "core/world.hpp"
#include "experiments/sym/point.hpp"

namespace sym::command {

// Microseconds of one of `point.timed` calls that `enqueue` makes, back to back: the median of a
// few repetitions, after one that warms up. With point.graph of a graph of as many calls.
// Collective: every PE enqueues the same.
template <World W, class F>
double time_us(W& world, const Point& point, F enqueue) {
  GraphId graph;
  if (point.graph) {
    world.begin_capture();
    for (int i = 0; i < point.timed; ++i) enqueue();
    graph = world.end_capture();
  }
  const auto once = [&] {
    if (point.graph) {
      world.replay(graph);
    } else {
      for (int i = 0; i < point.timed; ++i) enqueue();
    }
  };
  if constexpr (requires { world.time_graph_us(graph, 1); }) {
    // On GPUs several replays lie between two events, so that what starts a replay is not counted.
    if (point.graph) return world.time_graph_us(graph, point.replays) / point.timed;
  }
  once();  // warm: pages, code, clocks
  world.synchronize();
  std::vector<double> times;
  for (int repetition = 0; repetition < point.repetitions; ++repetition) {
    world.barrier();
    const double begin_us = world.mark_us();
    once();
    times.push_back((world.mark_us() - begin_us) / point.timed);
  }
  world.synchronize();
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

}  // namespace sym::command
