// One point on each backend: what the row and the exit status need of it.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backends/report/finding.hpp"
#include "experiments/sym/concurrent.hpp"
#include "experiments/sym/options.hpp"
#include "experiments/sym/point.hpp"
#include "experiments/sym/registry.hpp"
#include "experiments/sym/row.hpp"
#include "models/machine.hpp"

namespace sym::command {

using report::Finding;

// What only the checker has to tell of a run.
struct Checked {
  // (file:line, verb) -> times
  std::map<std::pair<std::string, std::string>, std::uint64_t> sites;
  std::uint64_t transfers = 0, accesses = 0, escaped_bytes = 0, steps = 0;
  std::size_t detector_bytes = 0;  // that race detection took at most, about
  std::vector<std::uint32_t> decisions;
  std::uint64_t executions = 1;
  std::string incomplete;     // why, and who was where; empty: the run came to its end
  bool within_bound = false;  // incomplete because of the bound that was asked for, and that alone
  std::size_t pct_actors = 0;
  std::uint64_t pct_steps = 0;
  double pct_bound = 0;     // of this run's chance
  bool pct_longer = false;  // than k: then it promises nothing
};

// What only the simulator has to tell.
struct Simulated {
  std::string network;
  bool data = true;                      // false: time alone
  std::vector<std::string> explanation;  // lines
  double low_us = 0, high_us = 0;        // if the assumed numbers are better, or worse
  int runs = 0;                          // with jitter; result.time_us is then their median
  double p99_us = 0;
};

struct Outcome {
  PointResult result;  // summed and maximised over the PEs
  std::vector<Finding> findings;
  Checked checked;
  Simulated simulated;
  std::uint64_t flows = 0;
  int window = 0;
  int fibres = 0;
  std::string baseline;  // the fastest of NCCL's own
  double baseline_us = 0;
  double plain_us = 0, symmetric_us = 0, zero_cta_us = 0;  // each of them; 0: not measured
};

// What the PEs of one point found, as one result: a PE whose output differs in its bits from PE 0's
// counts as wrong where the algorithm promises equal outputs.
PointResult merge(const Algorithm& algorithm, const std::vector<PointResult>& results);
// What a failure that every PE saw says, as a finding: once.
void add_failure(Outcome& outcome);
// Elements that are not what they must be, as a finding.
Finding wrong_data(const PointResult& result);

Outcome run_on_thread(const Algorithm& algorithm, const Point& point, const RunOptions& options);
Outcome run_on_check(const Algorithm& algorithm, const Point& point, const RunOptions& options);
// What two PEs did in that run up to the first finding with this Finding::bug(), side by side.
std::vector<std::string> timeline_on_check(const Algorithm& algorithm, const Point& point,
                                           const RunOptions& options, const std::string& bug);
// Starts a simulated point in a process of its own, with a companion that runs at the same time, or
// none; the call of what it returns waits for the outcome.
std::function<Outcome()> start_on_sim(const Algorithm& algorithm, const Point& point,
                                      const RunOptions& options, const models::Machine& machine,
                                      const std::optional<Companion>& companion);

// All points on GPUs, in one world; `done` is called on PE 0 alone. Returns the exit status of the
// processes it started, 0 if it started none.
int run_on_cuda(const Algorithm& algorithm, const std::vector<Point>& points,
                const RunOptions& options,
                const std::function<void(const Point&, const Outcome&)>& done);

// Empty if the backend can run here, else one sentence that says what is missing.
std::string why_unavailable(const std::string& backend);
const std::vector<std::string>& backend_names();

}  // namespace sym::command
