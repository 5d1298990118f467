// The checker, or what is said where this build has none.
#include "core/error.hpp"
#include "core/text.hpp"
#include "experiments/sym/backends.hpp"

#if defined(SYM_HAVE_FIBER)
#include "backends/check/found.hpp"
#include "backends/check/run.hpp"
#include "backends/check/timeline.hpp"
#endif

namespace sym::command {

#if !defined(SYM_HAVE_FIBER)

Outcome run_on_check(const Algorithm&, const Point&, const RunOptions&) {
  throw Unavailable("check: " + why_unavailable("check"));
}
std::vector<std::string> timeline_on_check(const Algorithm&, const Point&, const RunOptions&,
                                           const std::string&) {
  throw Unavailable("check: " + why_unavailable("check"));
}

#else

namespace {

check::CheckOptions check_options(const Point& point, const RunOptions& options) {
  check::CheckOptions check;
  check.pes = point.pes;
  check.schedule = options.schedule;
  check.seed = point.seed;
  check.knobs = check::knobs_of(options.knobs);
  check.pct_depth = options.depth;
  check.pct_steps = options.pct_steps;
  check.bound = options.bound;
  if (options.most_steps > 0) check.most_steps = options.most_steps;
  check.most_seconds = options.most_seconds;
  check.resident_blocks = options.resident;
  check.decisions = options.decisions;
  check.exact_replay = options.exact_replay;
  return check;
}

Checked checked_of(const check::CheckReport& report) {
  Checked checked;
  checked.sites = report.statistics.sites;
  checked.transfers = report.statistics.transfers;
  checked.accesses = report.accesses;
  checked.escaped_bytes = report.statistics.escaped_bytes;
  checked.steps = report.steps;
  checked.detector_bytes = report.detector_bytes;
  checked.decisions = report.decisions;
  checked.executions = report.executions;
  if (report.incomplete)
    checked.incomplete = report.not_reached.empty() ? "INCOMPLETE" : report.not_reached;
  checked.within_bound = report.within_bound;
  checked.pct_actors = report.pct.actors;
  checked.pct_steps = report.pct.steps;
  checked.pct_bound = report.pct.bound;
  checked.pct_longer = report.pct.longer;
  return checked;
}

}  // namespace

Outcome run_on_check(const Algorithm& algorithm, const Point& point, const RunOptions& options) {
  std::vector<PointResult> results(static_cast<std::size_t>(point.pes));
  std::vector<PointResult> latest = results;
  check::CheckOptions check = check_options(point, options);
  check.wrong = [&] { return merge(algorithm, latest).wrong != 0; };
  const check::CheckReport report = check::run_check(check, [&](fiber::FiberWorld& world) {
    // Of many executions, the one that was most wrong counts.
    const auto pe = static_cast<std::size_t>(world.pe());
    latest[pe] = algorithm.fiber(world, point);
    if (latest[pe].wrong >= results[pe].wrong) results[pe] = latest[pe];
  });
  Outcome outcome;
  outcome.result = merge(algorithm, results);
  // Outputs of PEs that never came to an end are not data.
  if (!report.clean() || report.incomplete) outcome.result.wrong = 0;
  for (const PointResult& one : results)
    outcome.result.wrong = std::max(outcome.result.wrong, one.wrong);
  outcome.findings = check::found_of(report.findings);
  add_failure(outcome);
  outcome.checked = checked_of(report);
  return outcome;
}

std::vector<std::string> timeline_on_check(const Algorithm& algorithm, const Point& point,
                                           const RunOptions& options, const std::string& bug) {
  constexpr std::size_t most_lines = 20;
  check::Timeline timeline(
      [&](const fiber::Finding& finding) { return check::found_of(finding).bug() == bug; });
  check::CheckOptions check = check_options(point, options);
  check.tracer = &timeline;
  (void)check::run_check(check,
                         [&](fiber::FiberWorld& world) { (void)algorithm.fiber(world, point); });
  return timeline.lines(most_lines);
}

#endif

}  // namespace sym::command
