// One run of a program with some of its calls changed.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "backends/check/mutant.hpp"
#include "experiments/sym/point.hpp"
#include "experiments/sym/registry.hpp"

namespace sym::command {

struct Trial {
  const Algorithm& algorithm;
  const check::Survey& survey;
  std::vector<check::Alteration> alterations;
  std::string schedule = "worst";  // exhaustive: all executions
  std::uint64_t seed = 1;
  bool stop_at_first = true;
  double most_seconds = 0;  // of a search; 0: no limit
};

struct TrialResult {
  struct Found {
    std::string kind;   // race, deadlock, ..., wrong data, refused
    std::string first;  // line
    // What makes it the same finding in another run: kind and places.
    std::string key;
    bool later_writes = false;  // races: the later access is a write
  };
  std::vector<Found> findings;
  bool changed = false;     // an altered call was reached
  bool incomplete = false;  // a search did not end
  std::uint64_t executions = 1;
};

// Starts it in a process of its own, because a mutant may do anything; the call of what it returns
// waits for the end. A mutant that dies or runs away is a finding of kind "crash" or "runaway".
std::function<TrialResult()> start_trial(const Trial& trial, const Point& point);

// What some changes take from the order of a program that is as it stands but for the trial's
// alterations (backends/check/order_graph.hpp). A run in a process of its own; throws Failure if
// that dies.
struct Orders {
  std::size_t pairs = 0;            // of accesses that conflict
  bool seen = false;                // what is changed has ordered something at all
  std::size_t through = 0;          // of them: their order goes through what is changed ...
  std::size_t news = 0;             // ... which tells somebody what he does not know
  std::size_t lost = 0;             // ... and, as far as the graph knows, through nothing else
  std::size_t places = 0;           // pairs of ops whose accesses those are
  std::size_t unknown = 0;          // of all pairs: the graph shows no order of theirs at all
  bool each = false;                // without each of `others` and the change some have no order
  std::vector<std::string> others;  // what orders them as well, the most frequent first
};
std::vector<Orders> orders_of(const Trial& trial, const Point& point,
                              const std::vector<std::vector<check::Alteration>>& changes);

// In this process, unchanged, for the survey. Throws Failure if there are findings.
check::Survey take_survey(const Algorithm& algorithm, const Point& point);

}  // namespace sym::command
