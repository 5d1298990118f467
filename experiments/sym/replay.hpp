// Replays of `sym run`: the arguments that they keep, and the run that comes of them.
#pragma once

#include <string>
#include <vector>

#include "backends/report/replay_file.hpp"
#include "experiments/sym/commands.hpp"
#include "experiments/sym/options.hpp"
#include "experiments/sym/point.hpp"

namespace sym::command {

struct Outcome;

using report::Finding;
using report::Replay;

// The arguments of `run` that make this point again, and no other.
std::vector<std::string> replay_arguments(const Algorithm& algorithm, const Point& point,
                                          const RunOptions& options);

// The run that a replay stands for. `options` may have been changed since.
struct ReplayedRun {
  Point point;
  RunOptions options;
};
ReplayedRun run_of(const Registry& registry, const Replay& replay);
// What the run finds, each once, wrong data included.
std::vector<Finding> found_by(const Outcome& outcome);

}  // namespace sym::command
