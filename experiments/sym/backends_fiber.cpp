// The checker and the simulator, or what is said where this build has neither.
#include <memory>
#include <nlohmann/json.hpp>

#include "core/error.hpp"
#include "core/text.hpp"
#include "experiments/sym/backends.hpp"

#if defined(SYM_HAVE_FIBER)
#include "backends/check/run.hpp"
#include "sim/child.hpp"
#include "sim/run.hpp"
#endif

namespace sym::command {

#if !defined(SYM_HAVE_FIBER)

Outcome run_on_check(const Algorithm&, const Point&, const RunOptions&) {
  throw Unavailable("check: " + why_unavailable("check"));
}
std::function<Outcome()> start_on_sim(const Algorithm&, const Point&, const RunOptions&,
                                      const models::Machine&) {
  throw Unavailable("sim: " + why_unavailable("sim"));
}

#else

namespace {

std::vector<Finding> copied(const std::vector<fiber::Finding>& findings) {
  std::vector<Finding> all;
  for (const fiber::Finding& finding : findings) all.push_back({finding.kind, finding.text});
  return all;
}

}  // namespace

Outcome run_on_check(const Algorithm& algorithm, const Point& point, const RunOptions& options) {
  check::CheckOptions check_options;
  check_options.pes = point.pes;
  check_options.schedule = options.schedule;
  check_options.seed = point.seed;
  check_options.knobs = check::knobs_of(options.knobs);
  std::vector<PointResult> results(static_cast<std::size_t>(point.pes));
  const check::CheckReport report = check::run_check(check_options, [&](fiber::FiberWorld& world) {
    results[static_cast<std::size_t>(world.pe())] = algorithm.fiber(world, point);
  });
  Outcome outcome;
  outcome.result = merge(algorithm, results);
  // Outputs of PEs that never came to an end are not data.
  if (!report.clean()) outcome.result.wrong = 0;
  for (const PointResult& one : results)
    outcome.result.wrong = std::max(outcome.result.wrong, one.wrong);
  outcome.findings = copied(report.findings);
  add_failure(outcome);
  std::uint64_t times = 0;
  for (const auto& [site, count] : report.statistics.sites) times += count;
  outcome.notes.push_back(
      "covered " + std::to_string(report.statistics.sites.size()) + " op sites, " +
      std::to_string(times) + " verbs, " + std::to_string(report.statistics.transfers) +
      " transfers, " + std::to_string(report.accesses) + " accesses; " +
      std::to_string(report.statistics.escaped_bytes) + " bytes bypassed the verbs");
  if (options.coverage) {
    for (const auto& [site, count] : report.statistics.sites) {
      outcome.notes.push_back("  " + site.first + "  " + site.second + "  x" +
                              std::to_string(count));
    }
  }
  return outcome;
}

namespace {

std::string simulate(const Algorithm& algorithm, const Point& point,
                     const sim::SimOptions& options) {
  std::vector<PointResult> results(static_cast<std::size_t>(point.pes));
  const sim::SimReport report = sim::run_sim(options, [&](fiber::FiberWorld& world) {
    results[static_cast<std::size_t>(world.pe())] = algorithm.fiber(world, point);
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
  json["findings"] = nlohmann::json::array();
  for (const fiber::Finding& finding : report.findings)
    json["findings"].push_back({finding.kind, finding.text});
  return json.dump();
}

}  // namespace

std::function<Outcome()> start_on_sim(const Algorithm& algorithm, const Point& point,
                                      const RunOptions& options, const models::Machine& machine) {
  sim::SimOptions sim_options;
  sim_options.machine = machine;
  sim_options.pes = point.pes;
  sim_options.network = options.network;
  sim_options.fibres = options.blocks_exact ? 0 : 1;
  sim_options.data = !options.no_data;
  sim_options.check = options.check;
  const int fibres = options.blocks_exact ? point.blocks : 1;
  auto child =
      std::make_shared<sim::Child>([&] { return simulate(algorithm, point, sim_options); });
  return [child, fibres] {
    const auto json = nlohmann::json::parse(child->finish());
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
    outcome.fibres = fibres;
    for (const auto& finding : json["findings"])
      outcome.findings.push_back({finding[0], finding[1]});
    add_failure(outcome);
    return outcome;
  };
}

#endif

}  // namespace sym::command
