#if defined(SYM_HAVE_FIBER)

#include "experiments/sym/mutate_trial.hpp"

#include <unistd.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <tuple>

#include "backends/check/explore.hpp"
#include "backends/check/order_graph.hpp"
#include "core/error.hpp"
#include "experiments/sym/backends.hpp"
#include "sim/child.hpp"

namespace sym::command {

namespace {

constexpr unsigned most_wall_seconds = 20;  // of a trial that is no search

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

TrialResult::Found as_found(const fiber::Finding& finding) {
  TrialResult::Found found{finding.kind, first_line(finding.text), finding.kind, false};
  for (const fiber::Place& place : finding.places) {
    found.key += " " + place.role + " " + place.site.file + ":" + std::to_string(place.site.line) +
                 " " + to_string(place.verb);
  }
  if (finding.places.size() >= 2) found.later_writes = finding.places[1].role == "write";
  return found;
}

// What the run itself says, and what the program's own verification adds.
TrialResult execute(const Trial& trial, const Point& point, fiber::Mutation& mutation) {
  check::CheckOptions options;
  options.pes = point.pes;
  options.schedule = trial.schedule;
  options.seed = trial.seed;
  options.most_seconds = trial.most_seconds;
  options.stop_at_first = trial.stop_at_first;
  options.mutation = &mutation;
  std::vector<PointResult> results(static_cast<std::size_t>(point.pes));
  TrialResult result;
  bool wrong = false;  // in any execution of a search
  try {
    const auto program = [&](fiber::FiberWorld& world) {
      PointResult& own = results[static_cast<std::size_t>(world.pe())];
      own = trial.algorithm.fiber(world, point);
      wrong = wrong || own.wrong != 0;
    };
    const check::CheckReport report = trial.schedule == "exhaustive"
                                          ? check::explore(options, program)
                                          : check::run_check(options, program);
    for (const fiber::Finding& finding : report.findings)
      result.findings.push_back(as_found(finding));
    result.incomplete = report.incomplete;
    result.executions = report.executions;
    const PointResult all = merge(trial.algorithm, results);
    if (report.clean() && (wrong || all.wrong != 0))
      result.findings.push_back({"wrong data", all.first_wrong, "wrong data", false});
    if (report.clean() && !all.failure.empty())
      result.findings.push_back({"refused", all.failure, "refused", false});
  } catch (const Error& error) {
    result.findings.push_back({"error", error.what(), "error", false});
  }
  return result;
}

std::string to_text(const TrialResult& result) {
  nlohmann::json json;
  json["changed"] = result.changed;
  json["incomplete"] = result.incomplete;
  json["executions"] = result.executions;
  json["findings"] = nlohmann::json::array();
  for (const TrialResult::Found& one : result.findings)
    json["findings"].push_back({one.kind, one.first, one.key, one.later_writes});
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

TrialResult from_text(const std::string& text) {
  const auto json = nlohmann::json::parse(text);
  TrialResult result;
  result.changed = json["changed"];
  result.incomplete = json["incomplete"];
  result.executions = json["executions"];
  for (const auto& one : json["findings"])
    result.findings.push_back({one[0], one[1], one[2], one[3]});
  return result;
}

TrialResult died(const std::string& how) {
  const bool late = how.find("Alarm") != std::string::npos;
  TrialResult result;
  result.changed = true;
  result.findings.push_back({late ? "runaway" : "crash", how, late ? "runaway" : "crash", false});
  return result;
}

// Tells a graph which operation it is that a PE enqueues.
class Numbering : public fiber::Mutation {
 public:
  Numbering(const check::Survey& survey, fiber::Mutation& mutation, check::OrderGraph& graph)
      : survey_(survey), mutation_(mutation), graph_(graph) {}
  void begin() override { mutation_.begin(); }
  fiber::Change at(fiber::Verb verb, Site site, int pe, int block) override {
    if (check::has_ordinal(verb)) {
      const std::uint64_t call = calls_[{site.file, site.line, verb, pe}]++;
      const std::uint64_t period = survey_.period(verb, site, pe);
      graph_.enqueues(pe, verb, site, static_cast<int>(period == 0 ? call : call % period));
    }
    return mutation_.at(verb, site, pe, block);
  }
  bool hides(fiber::Verb, Site, fiber::Change) override { return false; }

 private:
  const check::Survey& survey_;
  fiber::Mutation& mutation_;
  check::OrderGraph& graph_;
  std::map<std::tuple<std::string, int, fiber::Verb, int>, std::uint64_t> calls_;
};

std::string orders_in_text(const Trial& trial, const Point& point,
                           const std::vector<std::vector<check::Alteration>>& changes) {
  check::OrderGraph graph;
  check::Mutant base(&trial.survey, trial.alterations);
  Numbering numbering(trial.survey, base, graph);
  check::CheckOptions options;
  options.pes = point.pes;
  options.mutation = &numbering;
  const auto policy = check::make_fifo();
  fiber::Engine engine(check::engine_options_of(options), *policy, &graph);
  fiber::run_worlds(engine, 0,
                    [&](fiber::FiberWorld& world) { (void)trial.algorithm.fiber(world, point); });
  const std::size_t unknown = graph.unordered();
  nlohmann::json json = nlohmann::json::array();
  for (const auto& change : changes) {
    const check::OrderGraph::Answer one = graph.without(change);
    json.push_back({one.pairs, one.seen, one.through, one.news, one.lost, one.places, unknown,
                    one.each, one.others});
  }
  return json.dump();
}

}  // namespace

std::vector<Orders> orders_of(const Trial& trial, const Point& point,
                              const std::vector<std::vector<check::Alteration>>& changes) {
  sim::Child child([&] { return orders_in_text(trial, point, changes); });
  std::vector<Orders> all;
  for (const auto& one : nlohmann::json::parse(child.finish()))
    all.push_back({one[0], one[1], one[2], one[3], one[4], one[5], one[6], one[7], one[8]});
  return all;
}

std::function<TrialResult()> start_trial(const Trial& trial, const Point& point) {
  auto child = std::make_shared<sim::Child>([&trial, &point] {
    if (trial.most_seconds == 0) alarm(most_wall_seconds);
    check::Mutant mutant(&trial.survey, trial.alterations);
    TrialResult result = execute(trial, point, mutant);
    result.changed = mutant.changed() > 0;
    return to_text(result);
  });
  return [child] {
    try {
      return from_text(child->finish());
    } catch (const Failure& failure) {
      return died(failure.what());
    }
  };
}

check::Survey take_survey(const Algorithm& algorithm, const Point& point) {
  check::Survey survey(point.pes, point.iterations);
  const TrialResult result = execute(Trial{algorithm, survey, {}, "worst"}, point, survey);
  if (result.findings.empty()) return survey;
  throw Failure("mutate: " + point.algorithm +
                " has a finding as it stands, so there is nothing to "
                "compare mutants with (sym run shows it): " +
                result.findings.front().first);
}

}  // namespace sym::command

#endif
