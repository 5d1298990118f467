// run_check: a host program under the checker, on any number of PEs, in this thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "backends/check/adversary.hpp"
#include "backends/fiber/world.hpp"

namespace sym::check {

inline constexpr int most_pes = 4096;    // of a run
inline constexpr int most_depth = 1000;  // of pct

struct CheckOptions {
  int pes = 2;
  std::string schedule = "worst";  // one of schedule_names()
  std::uint64_t seed = 1;
  Knobs knobs = {};
  bool detect_races = true;
  // pct: bugs of this depth, at most most_depth, are found with the stated probability.
  int pct_depth = 2;
  std::uint64_t pct_steps = 0;  // pct: how long a run is at most; 0: found by running once more
  int bound = -1;               // exhaustive: preemptions at most; -1: no bound
  // Budgets of a run, or of all executions of exhaustive: steps (each is an agent that goes on to
  // its next verb, or a transfer that is read or delivered) and wall time. 0: no limit. The default
  // is minutes, so that a kernel that polls for ever ends.
  std::uint64_t most_steps = 100'000'000;
  double most_seconds = 0;
  int resident_blocks = 0;  // of a PE at a time; 0: all are resident at once
  // CPU time that a kernel may compute without a verb before it is a finding, or sleep ten times as
  // long; 0: no limit. Not under the sanitizers.
  double verb_seconds = 10;
  // The decisions of an earlier run (CheckReport::decisions), to be taken again; with the program,
  // PEs, seed, knobs and resident_blocks of that run, and under whatever schedule. None: the
  // schedule decides.
  std::vector<std::uint32_t> decisions = {};
  // What happens where the list ends or a decision is not possible. Exact: a finding "replay",
  // which says that the run is another one; also if the run ends before the list. Else the choice
  // is 0, the oldest event, whole: so any list is a run, a list and the same with zeros behind it
  // are the same run, and the empty list is one too. To shrink a run, shorten its list or make its
  // decisions 0, and see whether the finding is still there.
  bool exact_replay = true;
  // Called before each run that a report may be of: a schedule may take several to make one. What
  // the caller has kept of the run before is of no report. exhaustive: of none, its report is of
  // all.
  std::function<void()> begins = {};
  fiber::Tracer* tracer = nullptr;  // is told what happens in each run; outlives them
  // exhaustive: whether the execution that has just ended gave wrong data. The first that did is
  // kept as that of a finding is.
  std::function<bool()> wrong = {};
  bool stop_at_first = false;           // a finding ends the run
  fiber::Mutation* mutation = nullptr;  // changes the program's calls; none: as it is
};

// What pct promises: this run finds a bug of depth `depth`, if there is one, with a probability of
// `bound` = 1 / (actors x steps^(depth - 1)) at least. Actors: agents, and chains of transfers from
// an agent to a PE that fences and quiets order (backends/check/decisions.hpp).
struct PctBound {
  std::size_t actors = 0;
  std::uint64_t steps = 0;
  int depth = 0;
  bool longer = false;  // the run had more steps than it was thought to, and promises nothing
  double bound = 0;     // then 0
};

struct CheckReport {
  std::vector<fiber::Finding> findings;
  fiber::Statistics statistics;
  std::size_t accesses = 0;
  std::uint64_t steps = 0;
  // What the schedule chose, in order (backends/check/decisions.hpp). Empty for those that choose
  // nothing (worst and fifo), and for runs of more than 16 million decisions: these are repeated by
  // their seed alone.
  std::vector<std::uint32_t> decisions;
  PctBound pct;
  bool incomplete = false;         // a budget ended the run: nothing is known of the rest
  std::string not_reached;         // then: who was where
  std::uint64_t executions = 1;    // of exhaustive
  bool within_bound = false;       // exhaustive: incomplete because of its bound alone
  std::size_t detector_bytes = 0;  // the most that race detection took, about
  bool look_again = false;         // the race detector's: see race_detector.hpp
  // Clean, as far as it went: see `incomplete`.
  bool clean() const { return findings.empty(); }
  // Every finding, one after the other; empty if there is none.
  std::string text() const;
};

const std::vector<std::string>& schedule_names();
fiber::EngineOptions engine_options_of(const CheckOptions& options);

// Runs `program` on every PE; twice for pct without pct_steps. A std::exception of the host program
// reaches the caller, if nothing has been found before it; what a kernel throws, and what it does
// to memory or to time, is a finding. Throws UsageError for an unknown schedule.
CheckReport run_check(const CheckOptions& options,
                      const std::function<void(fiber::FiberWorld&)>& program);

}  // namespace sym::check
