// run_check: a host program under the checker, on any number of PEs, in this thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "backends/check/adversary.hpp"
#include "backends/fiber/world.hpp"

namespace sym::check {

struct CheckOptions {
  int pes = 2;
  std::string schedule = "worst";  // one of schedule_names()
  std::uint64_t seed = 1;
  Knobs knobs;
  bool detect_races = true;
  int pct_depth = 2;             // pct: bugs of this depth are found with the stated probability
  int bound = -1;                // exhaustive: preemptions at most; -1: no bound
  std::uint64_t most_steps = 0;  // of a run, or of all executions of exhaustive; 0: no limit
  double most_seconds = 0;       // the same, in wall time
  int resident_blocks = 0;       // of a PE at a time; 0: all are resident at once
  // The decisions of an earlier run, to be taken again; none: the schedule decides.
  std::vector<std::uint32_t> decisions;
};

struct CheckReport {
  std::vector<fiber::Finding> findings;
  fiber::Statistics statistics;
  std::size_t accesses = 0;
  std::vector<std::uint32_t> decisions;  // what the schedule chose, in order
  bool incomplete = false;               // a budget ended the run: nothing is known of the rest
  std::uint64_t executions = 1;          // of exhaustive
  // Clean, as far as it went: see `incomplete`.
  bool clean() const { return findings.empty(); }
  // Every finding, one after the other; empty if there is none.
  std::string text() const;
};

const std::vector<std::string>& schedule_names();

// Runs `program` on every PE. An exception of the program that is no Failure of a block reaches the
// caller. Throws UsageError for an unknown schedule.
CheckReport run_check(const CheckOptions& options,
                      const std::function<void(fiber::FiberWorld&)>& program);

}  // namespace sym::check
