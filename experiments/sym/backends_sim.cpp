// The simulator, or what is said where this build has none.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "backends/report/finding_json.hpp"
#include "core/error.hpp"
#include "experiments/sym/backends.hpp"
#include "experiments/sym/host_memory.hpp"
#include "experiments/sym/launches.hpp"
#include "models/band.hpp"

#if defined(SYM_HAVE_FIBER)
#include "backends/check/found.hpp"
#include "sim/child.hpp"
#include "sim/network.hpp"
#include "sim/run.hpp"
#endif

namespace sym::command {

#if !defined(SYM_HAVE_FIBER)

std::function<Outcome()> start_on_sim(const Algorithm&, const Point&, const RunOptions&,
                                      const models::Machine&, const std::optional<Companion>&) {
  throw Unavailable("sim: " + why_unavailable("sim"));
}

#else

namespace {

// The host program of one PE; with a companion, that of the companion around it, whose data is
// ready and whose launch waits for the point's.
PointResult run_both(const Algorithm& algorithm, const Point& point,
                     const std::optional<Companion>& companion, fiber::FiberWorld& world) {
  if (!companion) return algorithm.fiber(world, point);
  PointResult result;
  bool together = false;
  Point around = companion->point;
  around.hand_over = [&](const std::function<void()>& launch) {
    Point inner = point;
    inner.launch_too = [&] {
      together = true;
      launch();
    };
    result = algorithm.fiber(world, inner);
  };
  const PointResult other = companion->algorithm->fiber(world, around);
  if (!together) {
    throw UsageError("--concurrent: a collective of kernels can run beside another, " +
                     algorithm.name + " cannot");
  }
  result.wrong += other.wrong;
  if (result.first_wrong.empty()) result.first_wrong = other.first_wrong;
  return result;
}

// In a process of its own.
std::string simulate(const Algorithm& algorithm, const Point& point,
                     const std::optional<Companion>& companion, const sim::SimOptions& options) {
  std::vector<PointResult> results(static_cast<std::size_t>(point.pes));
  const sim::SimReport report = sim::run_sim(options, [&](fiber::FiberWorld& world) {
    results[static_cast<std::size_t>(world.pe())] = run_both(algorithm, point, companion, world);
  });
  const PointResult all = report.findings.empty() ? merge(algorithm, results) : results[0];
  nlohmann::json json;
  json["count"] = all.count;
  json["bytes"] = all.bytes;
  json["wrong"] = all.wrong;
  json["hash"] = all.hash;
  json["time_us"] = all.time_us;
  json["first_wrong"] = all.first_wrong;
  json["failure"] = all.failure;
  for_each_measure(all.measures,
                   [&](const char* name, double value) { json["measures"][name] = value; });
  json["flows"] = report.flows;
  json["window"] = report.nic_window;
  json["explanation"] = report.explanation;
  json["findings"] = nlohmann::json::array();
  for (const Finding& finding : check::found_of(report.findings))
    json["findings"].push_back(nlohmann::json(report::to_json(finding)));
  return json.dump();
}

Outcome outcome_of(const std::string& text) {
  const auto json = nlohmann::json::parse(text);
  Outcome outcome;
  outcome.result.count = json["count"];
  outcome.result.bytes = json["bytes"];
  outcome.result.wrong = json["wrong"];
  outcome.result.hash = json["hash"];
  outcome.result.time_us = json["time_us"];
  outcome.result.first_wrong = json["first_wrong"];
  outcome.result.failure = json["failure"];
  for_each_measure(outcome.result.measures,
                   [&](const char* name, double& value) { value = json["measures"][name]; });
  outcome.flows = json["flows"];
  outcome.window = json["window"];
  outcome.simulated.explanation = json["explanation"];
  for (const auto& finding : json["findings"])
    outcome.findings.push_back(report::finding_of(finding));
  add_failure(outcome);
  return outcome;
}

// What the payload of a point takes: inputs, outputs, work and what is expected, on all PEs.
double data_gib(const Point& point) {
  constexpr double windows = 4;
  return windows * point.pes * static_cast<double>(point.bytes) / gib;
}
// Of the machine that simulates, half: points run two at a time. As it was before the first point:
// whether a later one moves its data is not up to those before.
double free_gib() {
  static const double free = available_gib() / 2;
  return free;
}

sim::SimOptions sim_options(const Point& point, const RunOptions& options,
                            const models::Machine& machine) {
  sim::SimOptions sim;
  sim.machine = machine;
  sim.pes = point.pes;
  // Both say the same; beyond some hundred PEs SimGrid takes several times as long to say it.
  constexpr int most_for_simgrid = 256;
  const bool simgrid = sim::have_simgrid() && point.pes <= most_for_simgrid;
  sim.network = !options.network.empty() ? options.network : simgrid ? "simgrid" : "ports";
  sim.fibres = options.blocks_exact ? 0 : 1;
  sim.data = !options.no_data && data_gib(point) <= free_gib();
  sim.check = options.check;
  sim.explain = options.sim.explain;
  sim.trace = options.sim.trace;
  if (!options.sim.disturb.empty()) add_disturbances(sim.disturbance, options.sim.disturb);
  if (!options.sim.jitter.empty())
    sim.disturbance.jitter_sigma = sim::parse_jitter(options.sim.jitter);
  sim.disturbance.seed = options.seed;
  sim.placement = sim::parse_placement(options.sim.placement, point.pes, machine);
  return sim;
}

// The time that so many percent of the runs do not exceed.
double percentile(std::vector<double> times, double percent) {
  std::sort(times.begin(), times.end());
  const auto n = static_cast<double>(times.size());
  const auto rank = static_cast<std::size_t>(std::max(1.0, std::ceil(percent / 100 * n)));
  return times[rank - 1];
}

// What only time is wanted of: of the other seeds, and of the machine with other assumptions.
void run_again(Outcome& outcome, const sim::SimOptions& first, const RunOptions& options,
               const std::function<std::string(const sim::SimOptions&)>& simulate) {
  sim::SimOptions again = first;
  again.explain = false;
  again.trace.clear();
  const auto time_us = [&] {
    return outcome_of(sim::run_in_child([&] { return simulate(again); })).result.time_us;
  };
  Simulated& simulated = outcome.simulated;
  if (options.sim.band > 0) {
    again.machine = models::assumed_moved(first.machine, options.sim.band, true);
    simulated.low_us = time_us();
    again.machine = models::assumed_moved(first.machine, options.sim.band, false);
    simulated.high_us = time_us();
    again.machine = first.machine;
  }
  if (options.sim.jitter.empty()) return;
  std::vector<double> times{outcome.result.time_us};
  for (simulated.runs = 1; simulated.runs < options.sim.runs; ++simulated.runs) {
    ++again.disturbance.seed;
    times.push_back(time_us());
  }
  outcome.result.time_us = percentile(times, 50);
  simulated.p99_us = percentile(times, 99);
}

}  // namespace

std::function<Outcome()> start_on_sim(const Algorithm& algorithm, const Point& point,
                                      const RunOptions& options, const models::Machine& machine,
                                      const std::optional<Companion>& companion) {
  const sim::SimOptions first = sim_options(point, options, machine);
  sim::require_pes(first.disturbance, point.pes);
  const auto one = [&algorithm, point, companion](const sim::SimOptions& sim) {
    return simulate(algorithm, point, companion, sim);
  };
  auto child = std::make_shared<sim::Child>([&] { return one(first); });
  const int fibres = fibres_of(point, options.blocks_exact);
  return [child, one, first, fibres, point, &options] {
    Outcome outcome = outcome_of(child->finish());
    outcome.simulated.data = first.data;
    if (!first.data && !options.no_data) {
      fmt::print("# {} bytes: time alone, as with --no-data: {:.1f} GiB of data do not fit here\n",
                 point.bytes, data_gib(point));
    }
    outcome.fibres = fibres;
    outcome.simulated.network = first.network;
    if (outcome.findings.empty() && outcome.result.time_us > 0)
      run_again(outcome, first, options, one);
    return outcome;
  };
}

#endif

}  // namespace sym::command
