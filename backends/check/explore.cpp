#include "backends/check/explore.hpp"

#include <algorithm>
#include <chrono>
#include <set>

#include "backends/check/explore_policy.hpp"

namespace sym::check {

namespace {

constexpr std::uint64_t most_events = 1'000'000;  // of one execution
constexpr const char* used_up = "the budget is used up";

// What makes two findings of different executions the same.
std::string key_of(const fiber::Finding& finding) {
  if (finding.places.empty()) return finding.kind + "\n" + finding.text;
  std::multiset<std::string> places;
  for (const fiber::Place& place : finding.places) {
    places.insert(place.role + " " + std::to_string(place.pe) + " " + std::to_string(place.block) +
                  " " + std::to_string(place.queue) + " " + to_string(place.verb) + " " +
                  place.site.file + ":" + std::to_string(place.site.line));
  }
  std::string key = finding.kind + finding.verdict;
  for (const std::string& place : places) key += "\n" + place;
  return key;
}

void add(fiber::Statistics& to, const fiber::Statistics& from) {
  to.switches += from.switches;
  to.transfers += from.transfers;
  to.escaped_bytes += from.escaped_bytes;
  for (const auto& [site, times] : from.sites) to.sites[site] += times;
}

class Explorer {
 public:
  Explorer(const CheckOptions& options, const std::function<void(fiber::FiberWorld&)>& program,
           const Exploration& how)
      : options_(options), program_(program), how_(how), search_(options.bound, how.reduce) {}

  CheckReport run() {
    report_.executions = 0;
    if (!options_.decisions.empty() || !options_.exact_replay) {
      search_.follow(options_.decisions, options_.exact_replay);
    }
    do {
      execute();
    } while (search_.advance() && !over());
    if (search_.cut() && !report_.incomplete) {
      report_.within_bound = true;
      incomplete("executions with more than " + std::to_string(options_.bound) +
                 " preemptions were left out");
    }
    if (not_kept_ > 0) report_.findings.push_back(fiber::not_kept(not_kept_));
    report_.steps = events_;
    return std::move(report_);
  }

 private:
  bool over() {
    const bool spent = (options_.most_steps != 0 && events_ >= options_.most_steps) ||
                       (options_.most_seconds > 0 && seconds_left() <= 0);
    if (spent) incomplete(used_up);
    if (!spent && options_.stop_at_first && !report_.findings.empty()) {
      incomplete("a finding ended the search");
      return true;
    }
    return spent;
  }

  double seconds_left() const {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start_;
    return options_.most_seconds - passed.count();
  }

  void incomplete(const std::string& why) {
    report_.incomplete = true;
    report_.not_reached = "INCOMPLETE " + why + "; " + std::to_string(report_.executions) +
                          " executions were looked at, of the others nothing is known";
  }

  void execute() {
    fiber::Engine* running = nullptr;
    Recorder recorder(running);
    const std::uint64_t left =
        options_.most_steps == 0 ? most_events : options_.most_steps - events_;
    ExplorePolicy policy(search_, recorder, {std::min(left, most_events), how_.pieces, how_.whole});
    fiber::EngineOptions engine_options = engine_options_of(options_);
    engine_options.most_steps = 0;  // budgets are of all executions
    if (options_.most_seconds > 0) engine_options.most_seconds = std::max(seconds_left(), 1e-3);
    engine_options.launch_order = engine_options.piece_order = false;
    fiber::Engine engine(engine_options, policy, &recorder);
    running = &engine;
    if (how_.begin) how_.begin();
    search_.begin();
    fiber::run_worlds(engine, 0, program_);
    events_ += policy.events();
    add(report_.statistics, engine.statistics());
    report_.accesses += recorder.accesses();
    if (policy.cut_off()) {
      incomplete(left > most_events ? "an execution of more than a million events was cut off"
                                    : used_up);
    }
    if (engine.incomplete()) incomplete(used_up);
    if (search_.lost()) lost();
    if (policy.redundant()) return;
    collect(engine);
    if (policy.cut_off() || engine.incomplete()) return;  // it came to no end
    ++report_.executions;
    if (how_.end) how_.end(engine);
    if (options_.wrong && options_.wrong()) keep_decisions();
  }

  // Of the first execution that shows something.
  void keep_decisions() {
    if (!report_.decisions.empty()) return;
    report_.decisions = search_.decisions();
    if (report_.decisions.empty()) report_.decisions = {0};  // none would stand for a search
  }

  void collect(const fiber::Engine& engine) {
    if (!engine.findings().empty()) keep_decisions();
    for (const fiber::Finding& finding : engine.findings()) {
      if (!seen_.insert(key_of(finding)).second) continue;
      if (finding.ended_run || report_.findings.size() < fiber::most_findings) {
        report_.findings.push_back(finding);
      } else {
        ++not_kept_;
      }
    }
  }

  void lost() {
    report_.findings.push_back(
        {"replay",
         "REPLAY the decisions name a choice that this run does not have: they are another "
         "program's, or were edited"});
  }

  const CheckOptions& options_;
  const std::function<void(fiber::FiberWorld&)>& program_;
  const Exploration& how_;
  Search search_;
  CheckReport report_;
  std::set<std::string> seen_;
  std::size_t not_kept_ = 0;  // findings
  std::uint64_t events_ = 0;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace

CheckReport explore(const CheckOptions& options,
                    const std::function<void(fiber::FiberWorld&)>& program,
                    const Exploration& how) {
  return Explorer(options, program, how).run();
}

}  // namespace sym::check
