// Cost per flow of the two flow solvers (counter "per_flow", seconds of processor time):
//   ring/N      one flow from every PE to the next, N PEs, step after step: disjoint flows
//   a2a/N       windowed all-to-all, N PEs, 4 peers in flight each, unequal seeded sizes
// SimGrid runs once in a process, so each of its iterations is a forked child that times itself.
#include <benchmark/benchmark.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstddef>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "sim/network.hpp"

namespace {

using sym::sim::Flow;
using sym::sim::FlowId;
using sym::sim::Network;

constexpr double port_bytes_per_s = 450e9;
constexpr double infinity = std::numeric_limits<double>::infinity();

std::vector<double> port_links(int n) {
  return std::vector<double>(2 * static_cast<std::size_t>(n), port_bytes_per_s);
}

// Returns the number of flows. `cap` below the port's speed is one that binds.
std::size_t ring(Network& net, int n, int steps, double cap) {
  FlowId id = 0;
  for (int step = 0; step < steps; ++step) {
    for (int pe = 0; pe < n; ++pe) net.start({id++, {pe, n + (pe + 1) % n}, 1e6, cap});
    while (net.in_flight() > 0) benchmark::DoNotOptimize(net.advance(infinity));
  }
  return static_cast<std::size_t>(id);
}

std::size_t windowed_all_to_all(Network& net, int n, double cap) {
  constexpr int window = 4;
  std::mt19937_64 random(1);
  std::vector<int> next(static_cast<std::size_t>(n), 1);
  const auto start_next = [&](int src) {
    int& step = next[static_cast<std::size_t>(src)];
    if (step == n) return;
    const int dst = (src + step++) % n;
    const double bytes = static_cast<double>(100'000 + random() % 2'000'000);
    net.start({static_cast<FlowId>(src * n + dst), {src, n + dst}, bytes, cap});
  };
  for (int slot = 0; slot < window; ++slot)
    for (int src = 0; src < n; ++src) start_next(src);
  while (net.in_flight() > 0)
    for (const FlowId id : net.advance(infinity)) start_next(static_cast<int>(id) / n);
  return static_cast<std::size_t>(n) * static_cast<std::size_t>(n - 1);
}

struct Cost {
  double seconds = 0;
  std::size_t flows = 0;
};

Cost timed(Network& net, bool all_to_all, int n, double cap) {
  Cost cost;
  net.run([&] {
    const auto begin = std::chrono::steady_clock::now();
    cost.flows = all_to_all ? windowed_all_to_all(net, n, cap) : ring(net, n, 50, cap);
    cost.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  });
  return cost;
}

bool timed_in_child(bool all_to_all, int n, double cap, Cost& cost) {
  int ends[2];
  if (pipe(ends) != 0) return false;
  const pid_t child = fork();
  if (child < 0) return false;
  if (child == 0) {
    const Cost mine = timed(*sym::sim::make_simgrid_network(port_links(n)), all_to_all, n, cap);
    _exit(write(ends[1], &mine, sizeof mine) == static_cast<ssize_t>(sizeof mine) ? 0 : 1);
  }
  close(ends[1]);
  const bool heard = read(ends[0], &cost, sizeof cost) == static_cast<ssize_t>(sizeof cost);
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return heard && status == 0;
}

void measure(benchmark::State& state, bool simgrid, bool all_to_all, double cap) {
  const int n = static_cast<int>(state.range(0));
  if (simgrid && !sym::sim::have_simgrid()) {
    state.SkipWithError("this build has no SimGrid");
    return;
  }
  Cost total;
  for ([[maybe_unused]] auto ignored : state) {
    Cost cost;
    if (!simgrid) {
      cost = timed(*sym::sim::make_ports_network(port_links(n)), all_to_all, n, cap);
    } else if (!timed_in_child(all_to_all, n, cap, cost)) {
      state.SkipWithError("the child failed");
      return;
    }
    state.SetIterationTime(cost.seconds);
    total.seconds += cost.seconds;
    total.flows += cost.flows;
  }
  state.counters["per_flow"] = total.seconds / static_cast<double>(total.flows);
}

void add(const std::string& name, bool simgrid, bool all_to_all, double cap,
         std::initializer_list<int> sizes) {
  auto* bench = benchmark::RegisterBenchmark(
      name.c_str(), [=](benchmark::State& state) { measure(state, simgrid, all_to_all, cap); });
  for (const int n : sizes) bench->Arg(n);
  bench->UseManualTime()->Unit(benchmark::kMillisecond)->MinTime(0.2);
}

}  // namespace

int main(int argc, char** argv) {
  const double none = sym::sim::no_rate_cap;
  const double binding = port_bytes_per_s / 2;
  add("ports/ring", false, false, none, {128, 1024});
  add("ports/ring_capped", false, false, binding, {128, 1024});
  add("ports/a2a", false, true, none, {64, 256});
  add("simgrid/ring", true, false, none, {128, 1024});
  add("simgrid/ring_capped", true, false, binding, {128, 1024});
  add("simgrid/a2a", true, true, none, {64});
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
