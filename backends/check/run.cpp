#include "backends/check/run.hpp"

#include <algorithm>
#include <cmath>

#include "backends/check/decisions.hpp"
#include "backends/check/explore.hpp"
#include "backends/check/race_detector.hpp"
#include "core/text.hpp"

namespace sym::check {

const std::vector<std::string>& schedule_names() {
  static const std::vector<std::string> names{"worst", "random", "pct", "exhaustive", "fifo"};
  return names;
}

fiber::EngineOptions engine_options_of(const CheckOptions& options) {
  fiber::EngineOptions engine;
  engine.pes = options.pes;
  engine.count_sites = true;
  engine.most_steps = options.most_steps;
  engine.most_seconds = options.most_seconds;
  engine.resident_blocks = options.resident_blocks;
  engine.launch_order = options.knobs.launch_order;
  engine.piece_order = options.knobs.shuffle;
  engine.wrap = options.knobs.wrap;
  engine.catch_faults = true;
  engine.verb_seconds = options.verb_seconds;
  // The address sanitizer may keep variables elsewhere than on the stack.
  engine.find_livelocks = fiber::FaultGuard::works();
  engine.tracer = options.tracer;
  engine.stop_at_first = options.stop_at_first;
  engine.mutation = options.mutation;
  return engine;
}

namespace {

using Program = std::function<void(fiber::FiberWorld&)>;

// Null for the schedules that choose nothing.
std::unique_ptr<Chooser> make_chooser(const CheckOptions& options, Pct*& pct) {
  if (!options.decisions.empty() || !options.exact_replay) {
    return choose_as(options.decisions, options.exact_replay);
  }
  if (options.schedule == "random") return choose_at_random(options.seed);
  if (options.schedule != "pct") return nullptr;
  auto chooser = std::make_unique<Pct>(options.seed, options.pct_depth, options.pct_steps);
  pct = chooser.get();
  return chooser;
}

std::unique_ptr<fiber::Policy> make_other(const CheckOptions& options, Reversed reversed) {
  if (options.schedule == "worst") return make_worst(options.knobs, reversed);
  return make_fifo();
}

CheckReport report_of(fiber::Engine& engine, const RaceDetector& detector) {
  CheckReport report;
  report.findings = engine.findings();
  report.statistics = engine.statistics();
  report.accesses = detector.accesses();
  report.detector_bytes = detector.most_bytes();
  report.look_again = detector.look_again();
  report.steps = engine.steps();
  report.incomplete = engine.incomplete();
  report.not_reached = engine.not_reached();
  return report;
}

PctBound bound_of(const Pct& pct, const CheckOptions& options, std::uint64_t steps) {
  PctBound bound{pct.actors(), options.pct_steps, options.pct_depth, steps > options.pct_steps, 0};
  const auto k = static_cast<double>(options.pct_steps);
  const auto n = static_cast<double>(std::max<std::size_t>(pct.actors(), 1));
  if (!bound.longer) bound.bound = 1 / (n * std::pow(k, options.pct_depth - 1));
  return bound;
}

// `foresight`: what the same run has taught before. `reversed`: of worst.
CheckReport run_once(const CheckOptions& options, const Program& program, Foresight& foresight,
                     Reversed reversed) {
  if (options.begins) options.begins();
  Pct* pct = nullptr;
  std::unique_ptr<Chooser> chooser = make_chooser(options, pct);
  const bool choosing = chooser != nullptr;
  const std::unique_ptr<fiber::Policy> policy =
      choosing ? std::make_unique<Choices>(std::move(chooser)) : make_other(options, reversed);
  fiber::Engine* running = nullptr;
  RaceDetector detector(running, foresight);
  fiber::Engine engine(engine_options_of(options), *policy,
                       options.detect_races ? &detector : nullptr);
  running = &engine;
  try {
    fiber::run_worlds(engine, 0, program);
  } catch (const std::exception& thrown) {
    if (engine.findings().empty()) throw;  // else what was found before may well be why
    engine.stop({"exception", std::string("EXCEPTION of a host program: ") + thrown.what()});
  }
  CheckReport report = report_of(engine, detector);
  if (!choosing) return report;
  auto& choices = static_cast<Choices&>(*policy);
  report.decisions = choices.log();
  const std::string complaint = choices.chooser().complaint(true);
  const bool said = !report.findings.empty() && report.findings.back().kind == "replay";
  if (!complaint.empty() && !said) report.findings.push_back({"replay", "REPLAY " + complaint});
  if (pct != nullptr) report.pct = bound_of(*pct, options, report.steps);
  return report;
}

// Once, or again as long as a run teaches what a wait might have counted besides.
CheckReport run_to_the_end(const CheckOptions& options, const Program& program,
                           Reversed reversed = Reversed::odd_pes) {
  constexpr int most_looks = 8;  // two are usual
  Foresight foresight;
  CheckReport report = run_once(options, program, foresight, reversed);
  for (int again = 0; report.look_again && again < most_looks; ++again) {
    report = run_once(options, program, foresight, reversed);
  }
  if (report.look_again) {
    report.incomplete = true;
    report.not_reached = "INCOMPLETE signals that a wait might count kept coming to light in " +
                         std::to_string(most_looks + 1) + " runs";
  }
  return report;
}

// Which launches hang for want of places depends on the order that each PE takes them in: on all
// PEs as they were launched, on all the other way round, or on half of them. The first report with
// a finding, or the last.
CheckReport run_worst_orders(const CheckOptions& options, const Program& program) {
  CheckReport report;
  for (const Reversed reversed : {Reversed::no_pes, Reversed::all_pes, Reversed::odd_pes}) {
    report = run_to_the_end(options, program, reversed);
    if (!report.findings.empty() || report.incomplete) break;
  }
  return report;
}

// How many steps a run of pct may have: those of a friendly run, and for each transfer that its
// source is read before and its payload comes in two parts.
std::uint64_t steps_of(CheckOptions options, const Program& program) {
  options.decisions.clear();
  options.exact_replay = false;
  options.detect_races = false;
  const CheckReport report = run_to_the_end(options, program);
  return report.steps + 2 * report.statistics.transfers;
}

}  // namespace

std::string CheckReport::text() const {
  std::string all;
  for (const fiber::Finding& finding : findings) all += finding.text + "\n";
  return all;
}

CheckReport run_check(const CheckOptions& options,
                      const std::function<void(fiber::FiberWorld&)>& program) {
  if (options.pes < 1 || options.pes > most_pes) {
    throw UsageError("check: " + std::to_string(options.pes) + " PEs; 1 to " +
                     std::to_string(most_pes) + " can be checked");
  }
  const auto& names = schedule_names();
  if (std::find(names.begin(), names.end(), options.schedule) == names.end()) {
    throw UsageError("unknown schedule '" + options.schedule + "'; nearest is '" +
                     nearest_name(options.schedule, names) +
                     "' (worst, random, pct, exhaustive and fifo are there)");
  }
  if (options.pct_depth < 1 || options.pct_depth > most_depth) {
    throw UsageError("pct: a depth is at least 1 and at most " + std::to_string(most_depth));
  }
  if (options.schedule == "exhaustive") return explore(options, program);
  const bool chooses = options.decisions.empty() && options.exact_replay;
  if (options.schedule == "worst" && chooses && options.resident_blocks > 0 &&
      options.knobs.launch_order) {
    return run_worst_orders(options, program);
  }
  if (options.schedule != "pct" || options.pct_steps > 0 || !chooses) {
    return run_to_the_end(options, program);
  }
  CheckOptions with_steps = options;
  with_steps.pct_steps = steps_of(options, program);
  return run_to_the_end(with_steps, program);
}

}  // namespace sym::check
