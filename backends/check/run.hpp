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
  std::string schedule = "worst";  // worst | random | fifo
  std::uint64_t seed = 1;
  Knobs knobs;
  bool detect_races = true;
};

struct CheckReport {
  std::vector<fiber::Finding> findings;
  fiber::Statistics statistics;
  std::size_t accesses = 0;
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
