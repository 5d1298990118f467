// One point on each backend: what the row and the exit status need of it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "experiments/sym/options.hpp"
#include "experiments/sym/point.hpp"
#include "experiments/sym/registry.hpp"
#include "experiments/sym/row.hpp"
#include "models/machine.hpp"

namespace sym::command {

struct Finding {
  std::string kind, text;
};

struct Outcome {
  PointResult result;  // summed and maximised over the PEs
  std::vector<Finding> findings;
  std::vector<std::string> notes;  // lines for people: coverage, bytes that bypassed the verbs
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

Outcome run_on_thread(const Algorithm& algorithm, const Point& point, const RunOptions& options);
Outcome run_on_check(const Algorithm& algorithm, const Point& point, const RunOptions& options);
// Starts a simulated point in a process of its own; the call of what it returns waits for the
// outcome.
std::function<Outcome()> start_on_sim(const Algorithm& algorithm, const Point& point,
                                      const RunOptions& options, const models::Machine& machine);

// All points on GPUs, in one world; `done` is called on PE 0 alone. Returns the exit status of the
// processes it started, 0 if it started none.
int run_on_cuda(const Algorithm& algorithm, const std::vector<Point>& points,
                const RunOptions& options,
                const std::function<void(const Point&, const Outcome&)>& done);

// Empty if the backend can run here, else one sentence that says what is missing.
std::string why_unavailable(const std::string& backend);
const std::vector<std::string>& backend_names();

}  // namespace sym::command
