#include "experiments/sym/mutate_run.hpp"

#include "core/error.hpp"

#if defined(SYM_HAVE_FIBER)

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <thread>

#include "backends/check/mutants_of.hpp"
#include "experiments/sym/mutate_reason.hpp"
#include "experiments/sym/mutate_trial.hpp"

namespace sym::command {

namespace {

using check::Alteration;
using check::NamedMutant;
using fiber::Change;
using fiber::Verb;

using Alterations = std::vector<Alteration>;

// A shape, what runs in it, and the barriers of its host program that are left out in every trial.
struct Ground {
  Point point;
  check::Survey survey;
  Alterations base;
};

bool acquires(const NamedMutant& mutant) {
  return mutant.group == "wait" || mutant.group == "barrier";
}

// Mutants that take an order away and change nothing else: those that may stand in for each other.
bool loosens(const NamedMutant& mutant) {
  static const std::set<std::string> groups{"fence",      "quiet", "sync",
                                            "inner sync", "wait",  "barrier"};
  return groups.contains(mutant.group);
}

bool orders_lanes(const NamedMutant& mutant) {
  return mutant.group == "sync" || mutant.group == "inner sync";
}

class MutationRun {
 public:
  MutationRun(const Algorithm& algorithm, const MutateOptions& options)
      : algorithm_(algorithm), options_(options) {}

  VariantResult run(const std::vector<Point>& points, const std::vector<Point>& small) {
    result_.variant = points.front().variant;
    for (const Point& point : points) grounds_.push_back(ground_of(point));
    gather();
    for (std::size_t i = 0; i < grounds_.size(); ++i) try_on(i);
    find_credits();
    explain_survivors(small);
    for (std::size_t i = 0; i < grounds_.size(); ++i) explain_proofs(i);
    for (std::size_t i = 0; i < mutants_.size(); ++i) {
      // A change that comes to nothing wherever it is made is the program itself.
      if (states_[i].found || states_[i].changed) result_.mutants.push_back(outcome(i));
    }
    return result_;
  }

 private:
  // A mutant on its way.
  struct State {
    std::string group;
    bool changed = false;
    std::size_t ground = 0;  // the first in which its change is reached
    std::optional<TrialResult::Found> found;
    std::string shape, note;
    bool proven = false;
    bool vacuous = false;
  };

  Trial trial(const Ground& ground, Alterations alterations) const {
    alterations.insert(alterations.end(), ground.base.begin(), ground.base.end());
    return Trial{algorithm_, ground.survey, std::move(alterations), options_.schedule,
                 options_.seed};
  }

  // As many at a time as there are cores; results in the order of the trials.
  std::vector<TrialResult> run_all(const Point& point, const std::vector<Trial>& trials) {
    const std::size_t ahead = std::max(1U, std::thread::hardware_concurrency());
    std::deque<std::function<TrialResult()>> under_way;
    std::vector<TrialResult> results;
    for (std::size_t next = 0; results.size() < trials.size();) {
      for (; next < trials.size() && next < results.size() + ahead; ++next)
        under_way.push_back(start_trial(trials[next], point));
      results.push_back(under_way.front()());
      under_way.pop_front();
    }
    result_.runs += trials.size();
    return results;
  }
  TrialResult run_one(const Point& point, const Trial& trial) {
    return run_all(point, {trial}).front();
  }

  // Barriers and waits of the host program hide what the algorithm's own synchronisation is for:
  // all that it can do without are left out.
  Ground ground_of(const Point& point) {
    Ground ground{point, take_survey(algorithm_, point), {}};
    Alterations barriers;
    for (const check::Op& op : ground.survey.ops()) {
      if (op.verb == Verb::host) barriers.push_back({op, Change::drop});
    }
    result_.host_calls = static_cast<int>(barriers.size());
    if (clean_without(ground, barriers)) {
      ground.base = barriers;
    } else {
      for (const Alteration& barrier : barriers) {
        Alterations more = ground.base;
        more.push_back(barrier);
        if (clean_without(ground, more)) ground.base = more;
      }
    }
    result_.host_calls_dropped = static_cast<int>(ground.base.size());
    return ground;
  }
  bool clean_without(const Ground& ground, const Alterations& barriers) {
    Trial worst{algorithm_, ground.survey, barriers, "worst"};
    Trial fifo = worst;
    fifo.schedule = "fifo";
    const auto results = run_all(ground.point, {worst, fifo});
    return results[0].findings.empty() && results[1].findings.empty();
  }

  void gather() {
    std::set<std::string> known;
    for (const Ground& ground : grounds_) {
      for (NamedMutant& mutant : check::mutants_of(ground.survey)) {
        if (!known.insert(mutant.text()).second) continue;
        states_.push_back({mutant.group, false, 0, std::nullopt, "", "", false, false});
        mutants_.push_back(std::move(mutant));
      }
    }
  }

  std::string shape_of(const Point& point) const {
    return fmt::format("{} PEs, {} blocks, {} launches, {}", point.pes, point.blocks,
                       point.iterations, fmt::join(algorithm_.family.arguments(point), " "));
  }

  void try_on(std::size_t number) {
    const Ground& ground = grounds_[number];
    std::vector<std::size_t> left;
    std::vector<Trial> trials;
    for (std::size_t i = 0; i < mutants_.size(); ++i) {
      if (states_[i].found) continue;
      left.push_back(i);
      trials.push_back(trial(ground, mutants_[i].alterations));
    }
    const auto results = run_all(ground.point, trials);
    for (std::size_t at = 0; at < left.size(); ++at) {
      State& state = states_[left[at]];
      if (!state.changed) state.ground = number;
      state.changed = state.changed || results[at].changed;
      if (results[at].findings.empty()) continue;
      state.found = results[at].findings.front();
      state.shape = shape_of(ground.point);
    }
  }

  // A wait is a credit if all that it orders are writes behind what others have done: without its
  // edge every race ends with a write.
  void find_credits() {
    for (std::size_t i = 0; i < mutants_.size(); ++i) {
      if (!acquires(mutants_[i])) continue;
      Alterations edge;
      for (Alteration one : mutants_[i].alterations) {
        if (one.op.verb == Verb::wait_until) one.change = Change::no_acquire;
        if (one.op.verb == Verb::wait_until || one.op.verb == Verb::take ||
            one.op.verb == Verb::after)
          edge.push_back(one);
      }
      if (edge.empty()) continue;
      const auto& findings = all_findings(states_[i].ground, edge);
      std::size_t races = 0, writes = 0;
      for (const TrialResult::Found& found : findings) {
        if (found.kind != "race") continue;
        ++races;
        writes += found.later_writes ? 1U : 0U;
      }
      if (races > 0 && races == writes) states_[i].group = "credit";
    }
  }

  // In order and without end; remembered.
  const std::vector<TrialResult::Found>& all_findings(std::size_t ground,
                                                      const Alterations& alterations) {
    const auto found = findings_.find({ground, alterations});
    if (found != findings_.end()) return found->second;
    Trial one = trial(grounds_[ground], alterations);
    one.schedule = "fifo";
    one.stop_at_first = false;
    return findings_[{ground, alterations}] = run_one(grounds_[ground].point, one).findings;
  }

  void explain_survivors(const std::vector<Point>& small) {
    for (std::size_t i = 0; i < mutants_.size(); ++i) {
      State& state = states_[i];
      if (state.found || !state.changed) continue;
      state.note = found_by_random(i);
      if (state.note.empty()) state.proven = prove(mutants_[i], small, state.note);
    }
  }

  std::string found_by_random(std::size_t survivor) {
    const Ground& ground = grounds_[states_[survivor].ground];
    std::vector<Trial> trials;
    for (int seed = 1; seed <= options_.random_seeds; ++seed) {
      trials.push_back(trial(ground, mutants_[survivor].alterations));
      trials.back().schedule = "random";
      trials.back().seed = static_cast<std::uint64_t>(seed);
    }
    const auto results = run_all(ground.point, trials);
    for (std::size_t at = 0; at < results.size(); ++at) {
      if (!results[at].findings.empty())
        return fmt::format("random, seed {}, finds it: {}", at + 1,
                           results[at].findings.front().first);
    }
    return "";
  }

  // Which others order the same, by trial: without both there is a finding that is not there
  // without the other alone. Empty if none does.
  std::string implied_by(std::size_t survivor) {
    const auto shares = [&](const NamedMutant& other) {
      return std::any_of(other.alterations.begin(), other.alterations.end(),
                         [&](const auto& one) { return one.op == mutants_[survivor].op; });
    };
    std::vector<std::string> names;
    for (const NamedMutant& other : mutants_) {
      const bool blocks = !check::has_ordinal(other.op.verb);
      const bool lanes = mutants_[survivor].group != "inner sync" || orders_lanes(other);
      if (!loosens(other) || !blocks || !lanes || shares(other)) continue;
      const std::size_t ground = states_[survivor].ground;
      const auto& alone = all_findings(ground, other.alterations);
      Alterations both = mutants_[survivor].alterations;
      both.insert(both.end(), other.alterations.begin(), other.alterations.end());
      const auto& together = all_findings(ground, both);
      const bool more = std::any_of(together.begin(), together.end(), [&](const auto& found) {
        return std::none_of(alone.begin(), alone.end(),
                            [&](const auto& one) { return one.key == found.key; });
      });
      if (more) names.push_back(short_site(other.text()));
    }
    if (names.empty()) return "";
    constexpr std::size_t most = 6;
    if (names.size() > most) names.resize(most);
    return fmt::format("{}", fmt::join(names, "; "));
  }

  // A proof says that there is no difference; here is why. Without a reason it is none.
  void explain_proofs(std::size_t ground) {
    std::vector<std::size_t> proven;
    std::vector<Alterations> changes;
    for (std::size_t i = 0; i < mutants_.size(); ++i) {
      if (!states_[i].proven || states_[i].ground != ground) continue;
      proven.push_back(i);
      changes.push_back(mutants_[i].alterations);
    }
    if (proven.empty()) return;
    const auto orders = orders_of(trial(grounds_[ground], {}), grounds_[ground].point, changes);
    ++result_.runs;
    for (std::size_t at = 0; at < proven.size(); ++at) {
      State& state = states_[proven[at]];
      const Reason reason =
          reason_of(mutants_[proven[at]].group, orders[at], [&] { return implied_by(proven[at]); });
      state.proven = reason.holds;
      state.vacuous = reason.vacuous;
      state.note = reason.text + "; " + state.note;
    }
  }

  // Whether the change can make a difference in so small a shape at all.
  static bool is_too_small(const Point& point, const NamedMutant& mutant) {
    return (mutant.group == "slot" && point.blocks < 2) ||
           (mutant.group == "peer" && point.pes < 3);
  }

  // True if every legal execution of a small shape is clean, and all of them were run. Of the
  // shapes in their order the first whose search comes to its end.
  bool prove(const NamedMutant& mutant, const std::vector<Point>& small, std::string& note) {
    if (options_.proof_seconds <= 0) return false;
    std::string tried;
    for (const Point& point : small) {
      if (is_too_small(point, mutant)) continue;
      Trial search = trial(small_ground(point), mutant.alterations);
      search.schedule = "exhaustive";
      search.most_seconds = options_.proof_seconds;
      const TrialResult result = run_one(point, search);
      if (!result.findings.empty()) {
        note = "exhaustive search finds it: " + result.findings.front().first;
        return false;
      }
      const bool proven = !result.incomplete && result.changed;
      tried = fmt::format("exhaustive, {}: {} execution{}, {}", shape_of(point), result.executions,
                          result.executions == 1 ? "" : "s",
                          proven           ? "complete, no difference"
                          : result.changed ? "not to the end, no difference so far"
                                           : "the changed call does not run");
      if (!proven) continue;
      note += (note.empty() ? "" : "; ") + tried;
      return true;
    }
    if (!tried.empty()) note += (note.empty() ? "" : "; ") + tried;
    return false;
  }
  const Ground& small_ground(const Point& point) {
    const auto found = small_.find(shape_of(point));
    if (found != small_.end()) return found->second;
    const VariantResult kept = result_;
    Ground ground = ground_of(point);
    result_.host_calls = kept.host_calls;
    result_.host_calls_dropped = kept.host_calls_dropped;
    return small_.emplace(shape_of(point), std::move(ground)).first->second;
  }

  MutantResult outcome(std::size_t i) const {
    const NamedMutant& mutant = mutants_[i];
    const State& state = states_[i];
    MutantResult one;
    one.variant = result_.variant;
    one.group = state.group;
    one.site = short_site(mutant.op.text());
    one.change = mutant.change;
    one.shape = state.shape;
    one.note = state.note;
    one.verdict = state.vacuous ? "vacuous" : state.proven ? "equivalent" : "survived";
    if (!state.found) return one;
    one.kind = state.found->kind;
    one.found = state.found->first;
    one.verdict = one.kind == "runaway"                                ? "survived"
                  : mutant.group == "signal" && one.kind == "deadlock" ? "hang"
                                                                       : "killed";
    if (one.kind == "runaway") one.note = "it neither ended nor was found";
    return one;
  }

  const Algorithm& algorithm_;
  const MutateOptions& options_;
  VariantResult result_;
  std::deque<Ground> grounds_;
  std::map<std::string, Ground> small_;
  std::vector<NamedMutant> mutants_;
  std::vector<State> states_;
  std::map<std::pair<std::size_t, Alterations>, std::vector<TrialResult::Found>> findings_;
};

}  // namespace

VariantResult run_mutants(const Algorithm& algorithm, const std::vector<Point>& points,
                          const std::vector<Point>& small, const MutateOptions& options) {
  return MutationRun(algorithm, options).run(points, small);
}

std::string short_site(const std::string& text) {
  for (const char* const root : {"core/", "experiments/", "tests/"}) {
    const std::size_t at = text.find(root);
    if (at != std::string::npos) return text.substr(at);
  }
  return text;
}

}  // namespace sym::command

#else

namespace sym::command {

VariantResult run_mutants(const Algorithm&, const std::vector<Point>&, const std::vector<Point>&,
                          const MutateOptions&) {
  throw Unavailable("mutate: this build lacks the checker; it needs Boost.Context");
}

}  // namespace sym::command

#endif
