#include "experiments/sym/reporter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "backends/report/build.hpp"
#include "backends/report/covered.hpp"
#include "backends/report/wording.hpp"
#include "experiments/sym/replay.hpp"

namespace sym::command {

using report::number_of;

void Reporter::Coverage::add(const Checked& checked) {
  ++runs;
  for (const auto& [site, times] : checked.sites) {
    sites[site].first += times;
    ++sites[site].second;
    verbs += times;
  }
  transfers += checked.transfers;
  accesses += checked.accesses;
  escaped_bytes += checked.escaped_bytes;
  detector_bytes = std::max(detector_bytes, checked.detector_bytes);
  executions += checked.executions;
  actors = std::max(actors, checked.pct_actors);
  steps = std::max(steps, checked.pct_steps);
  if (checked.pct_longer) {
    ++without_bound;
  } else {
    least = std::min(least, checked.pct_bound);
    all_miss *= 1 - checked.pct_bound;
  }
}

Reporter::Reporter(const Invocation& invocation, const RunOptions& options,
                   const Algorithm& algorithm, const models::Machine* machine, CsvFile& csv)
    : invocation_(invocation),
      options_(options),
      algorithm_(algorithm),
      machine_(machine),
      csv_(csv),
      findings_({options.findings, options.sarif, options.suppress}) {
  for (const std::string& path : {options_.csv, options_.json}) {
    if (!path.empty()) report::require_writable(path);
  }
}

std::string Reporter::title() const {
  std::string text = "sym run " + options_.algorithm + " on " + options_.backend;
  if (machine_ != nullptr) {
    text += ", machine " + machine_->name;
    if (machine_->nodes > 1) text += "*" + std::to_string(machine_->nodes);
  }
  if (options_.backend == "check") text += ", schedule " + options_.schedule;
  if (options_.runs > 1) text += ", " + std::to_string(options_.runs) + " runs a point";
  return text;
}

void Reporter::header() {
  if (!std::exchange(began_, true)) print_header(stdout, title());
}

void Reporter::row(const Point& point, const Outcome& outcome) {
  header();
  rows_.push_back(row_of(algorithm_, point, outcome, options_));
  add_rates(rows_.back(), algorithm_, point, machine_);
  csv_.add(rows_.back());
  print_row(stdout, rows_.back());
  for (const std::string& line : point.choice) fmt::print("#   {}\n", line);
  for (const std::string& line : outcome.simulated.explanation) fmt::print("#   {}\n", line);
  outside_lines(rows_.back());
  if (!outcome.result.first_wrong.empty()) fmt::print("#   WRONG {}\n", outcome.result.first_wrong);
}

// What a calibrated machine has not been measured with.
void Reporter::outside_lines(const Row& row) const {
  if (options_.backend != "sim" || machine_ == nullptr || !machine_->calibration) return;
  const auto parts = models::outside(*machine_->calibration, row.pes, row.bytes, row.blocks);
  if (parts.empty()) return;
  fmt::print("#   outside what {} was calibrated with: {}\n", machine_->name,
             fmt::join(parts, ", "));
}

void Reporter::done(const Point& point, const Outcome& outcome, bool last) {
  Outcome counted = outcome;
  counted.findings = findings_.counted(outcome.findings);
  const std::string early = findings_.ended_early(outcome.findings);
  const bool by_budget = !outcome.checked.incomplete.empty() && !outcome.checked.within_bound;
  const std::string incomplete = by_budget ? outcome.checked.incomplete : early;
  const bool bad = counted.result.wrong != 0 || !counted.findings.empty() || !incomplete.empty();
  if (options_.backend == "check") coverage_.add(outcome.checked);
  within_bound_ += outcome.checked.within_bound ? 1 : 0;
  if (by_budget) ++over_budget_;
  if (!incomplete.empty() && ++incomplete_ == 1) {
    findings_.incomplete(incomplete);
    header();
    fmt::print("{}\n", incomplete);
  }
  if (bad && !std::exchange(has_bad_, true)) bad_ = {point, counted};
  // One run is a row and what was found in it. Of many, what is found is said at once, and the row
  // comes when all have run.
  if (last && options_.runs == 1) row(point, counted);
  report(point, outcome);
  if (!last) return;
  if (options_.runs > 1) row(has_bad_ ? bad_.first : point, has_bad_ ? bad_.second : counted);
  ++points_;
  if (std::exchange(has_bad_, false)) ++failed_points_;
}

void Reporter::report(const Point& point, const Outcome& outcome) {
  const std::vector<Finding> all = found_by(outcome);
  const std::vector<std::size_t> fresh = findings_.add(
      {point.algorithm, point.variant, options_.backend, options_.schedule, point.pes, point.seed},
      all);
  if (fresh.empty()) return;
  header();
  for (std::size_t at : fresh) fmt::print("{}\n", findings_.all()[at].finding.text);
  if (options_.backend != "check") return;
  Replay replay;
  replay.arguments = replay_arguments(algorithm_, point, options_);
  replay.decisions = outcome.checked.decisions;
  replay.findings = all;
  replay.wanted = findings_.all()[fresh.front()].finding.bug();
  if (options_.schedule == "exhaustive") {  // the file is about one execution, the first that found
    RunOptions one = options_;
    one.decisions = replay.decisions;
    replay.findings = found_by(run_on_check(algorithm_, point, one));
    if (!replay.findings.empty()) replay.wanted = replay.findings.front().bug();
  }
  const std::string file = report::write_replay(replay, options_.replay_file, report::source_id());
  for (std::size_t at : fresh) findings_.all()[at].replay = file;
  fmt::print("  replay {} replay {}\n", invocation_.program, file);
  std::fflush(stdout);
}

int Reporter::finish(std::vector<Row>& all) {
  // On GPUs one process of the job, PE 0, has the rows; the others have nothing to say.
  if (rows_.empty()) return 0;
  findings_.write();
  all.insert(all.end(), rows_.begin(), rows_.end());
  csv_.require_written();
  if (!options_.json.empty()) write_json(options_.json, all);
  for (const std::string& line : findings_.summary()) fmt::print("# {}\n", line);
  if (options_.backend == "check") checker_lines();
  if (failed_points_ > 0) fmt::print("# {} of {} points FAILED\n", failed_points_, points_);
  return failed_points_ > 0 ? 1 : 0;
}

void Reporter::checker_lines() const {
  const Coverage& all = coverage_;
  if (options_.schedule == "pct") {
    fmt::print(
        "# pct: n = {} actors (agents, and chains of ordered transfers), k = {} steps, d = {}: a "
        "run "
        "finds a bug of depth {} with a chance of 1/(n k^(d-1)) = {:.2g} at least; {}{} "
        "with {:.3g} %\n",
        all.actors, all.steps, options_.depth, options_.depth,
        all.without_bound == all.runs ? 0 : all.least, all.runs > 1 ? "all " : "",
        number_of(all.runs, "run"), 100 * (1 - all.all_miss));
    if (all.without_bound > 0) {
      fmt::print("# pct: {} longer than k, and no promise is made for them\n",
                 number_of(all.without_bound, "run"));
    }
  }
  if (options_.schedule == "exhaustive") {
    fmt::print("# exhaustive: {}, {}, {}\n", number_of(all.executions, "execution"),
               report::search_extent(options_.bound),
               report::search_end(incomplete_ > 0, within_bound_ > 0));
  }
  if (over_budget_ > 0) {
    fmt::print("# INCOMPLETE {} of {} ended by a budget, and what was not reached is not checked\n",
               over_budget_, number_of(all.runs, "run"));
  }
  fmt::print("# {}covered {}, {}, {}, {} accesses{}; {} bytes bypassed the verbs\n",
             all.runs > 1 ? fmt::format("{} runs ", all.runs) : std::string(),
             number_of(all.sites.size(), "op site"), number_of(all.verbs, "verb"),
             number_of(all.transfers, "transfer"), all.accesses,
             all.detector_bytes > 0
                 ? fmt::format(" ({:.1f} MiB)", static_cast<double>(all.detector_bytes) / (1 << 20))
                 : "",
             all.escaped_bytes);
  site_lines();
}

void Reporter::site_lines() const {
  std::size_t partly = 0;
  for (const auto& [site, times] : coverage_.sites) partly += times.second < coverage_.runs;
  if (partly > 0) fmt::print("# {} of the op sites are not in every run\n", partly);
  if (!options_.coverage) {
    if (failed_points_ > 0) return;  // who looks at a finding has no eyes for the rest
    report::Sites sites;
    for (const auto& [site, times] : coverage_.sites) sites.insert(site);
    for (const std::string& line : report::covered_lines(sites)) fmt::print("#   {}\n", line);
    return;
  }
  for (const auto& [site, times] : coverage_.sites) {
    fmt::print("#   {}  {}  x{}", site.first, site.second, times.first);
    if (times.second < coverage_.runs)
      fmt::print("  in {} of {} runs", times.second, coverage_.runs);
    fmt::print("\n");
  }
}

}  // namespace sym::command
