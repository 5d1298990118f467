#include "backends/check/run.hpp"

#include "backends/check/race_detector.hpp"
#include "core/text.hpp"

namespace sym::check {

const std::vector<std::string>& schedule_names() {
  static const std::vector<std::string> names{"worst", "random", "fifo"};
  return names;
}

namespace {
std::unique_ptr<fiber::Policy> make_policy(const CheckOptions& options) {
  if (options.schedule == "worst") return make_worst(options.knobs);
  if (options.schedule == "random") return make_random(options.seed);
  if (options.schedule == "fifo") return make_fifo();
  throw UsageError("unknown schedule '" + options.schedule + "'; nearest is '" +
                   nearest_name(options.schedule, schedule_names()) +
                   "' (worst, random and fifo are there)");
}
}  // namespace

std::string CheckReport::text() const {
  std::string all;
  for (const fiber::Finding& finding : findings) all += finding.text + "\n";
  return all;
}

CheckReport run_check(const CheckOptions& options,
                      const std::function<void(fiber::FiberWorld&)>& program) {
  constexpr int most_pes = 4096;  // clocks are dense: memory grows with the square
  if (options.pes < 1 || options.pes > most_pes) {
    throw UsageError("check: " + std::to_string(options.pes) + " PEs; 1 to " +
                     std::to_string(most_pes) + " can be checked");
  }
  const auto policy = make_policy(options);
  fiber::Engine* running = nullptr;
  RaceDetector detector(running);
  fiber::EngineOptions engine_options;
  engine_options.pes = options.pes;
  engine_options.count_sites = true;
  fiber::Engine engine(engine_options, *policy, options.detect_races ? &detector : nullptr);
  running = &engine;
  fiber::run_worlds(engine, 0, program);
  CheckReport report;
  report.findings = engine.findings();
  report.statistics = engine.statistics();
  report.accesses = detector.accesses();
  return report;
}

}  // namespace sym::check
