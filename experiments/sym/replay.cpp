#include "experiments/sym/replay.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "backends/report/build.hpp"
#include "experiments/sym/backends.hpp"

namespace sym::command {

std::vector<std::string> replay_arguments(const Algorithm& algorithm, const Point& point,
                                          const RunOptions& options) {
  std::vector<std::string> arguments{point.algorithm, "--backend", "check"};
  const auto add = [&arguments](const char* name, const std::string& value) {
    arguments.insert(arguments.end(), {name, value});
  };
  add("--pes", std::to_string(point.pes));
  add("--dtype", point.dtype);
  add("--blocks", std::to_string(point.blocks));
  add("--iterations", std::to_string(point.iterations));
  add("--seed", std::to_string(point.seed));
  const bool is_schedule = !algorithm.family.schedules.empty();  // of the algorithm's own
  add("--schedule", options.schedule + (is_schedule ? "," + point.variant : ""));
  if (!is_schedule) add("--variant", point.variant);
  const std::vector<std::string> own = algorithm.family.arguments(point);
  arguments.insert(arguments.end(), own.begin(), own.end());
  if (!options.inject.empty()) add("--inject", options.inject);
  if (options.depth != RunOptions{}.depth) add("--depth", std::to_string(options.depth));
  if (options.bound >= 0) add("--bound", std::to_string(options.bound));
  if (options.most_steps > 0) add("--budget", std::to_string(options.most_steps));
  if (options.resident > 0) add("--resident", std::to_string(options.resident));
  if (!options.knobs.empty()) add("--knobs", fmt::format("{}", fmt::join(options.knobs, ",")));
  return arguments;
}

ReplayedRun run_of(const Registry& registry, const Replay& replay) {
  ReplayedRun run;
  run.options = parse_run(registry, replay.arguments);
  run.options.decisions = replay.decisions;
  run.options.exact_replay = replay.exact;
  const Algorithm& algorithm = registry.find(run.options.algorithm);
  const models::Machine machine = models::load_machine("h200x2");  // for `auto`, which none says
  run.point =
      algorithm.family.points(Planning{algorithm, run.options, machine, run.options.pes.at(0)})
          .at(0);
  return run;
}

std::vector<Finding> found_by(const Outcome& outcome) {
  std::vector<Finding> found = report::distinct(outcome.findings);
  if (found.empty() && outcome.result.wrong != 0) found.push_back(wrong_data(outcome.result));
  return found;
}

int replay_command(const Invocation& invocation, const std::string& file) {
  const Replay replay = report::read_replay(file, report::source_id());
  const auto& known = invocation.registry.algorithms();
  const std::string name = replay.arguments.empty() ? "" : replay.arguments[0];
  if (std::none_of(known.begin(), known.end(), [&](const auto& one) { return one.name == name; })) {
    throw UsageError(file + " is of a program that has the algorithm '" + name +
                     "', which this one has not; its findings name the command that replays them");
  }
  const ReplayedRun run = run_of(invocation.registry, replay);
  const Algorithm& algorithm = invocation.registry.find(run.options.algorithm);
  Replay again;
  again.findings = found_by(run_on_check(algorithm, run.point, run.options));
  return report::compare_replays(replay, again);
}

}  // namespace sym::command
