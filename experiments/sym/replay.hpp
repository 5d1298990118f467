// Replay files: a run of the checker with everything that it takes to have it again.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "experiments/sym/commands.hpp"
#include "experiments/sym/finding.hpp"
#include "experiments/sym/options.hpp"
#include "experiments/sym/point.hpp"

namespace sym::command {

struct Outcome;

struct Replay {
  std::vector<std::string> arguments;  // of `sym run`
  std::vector<std::uint32_t> decisions;
  bool exact = true;              // see CheckOptions::exact_replay
  std::vector<Finding> findings;  // of the run, each once
  std::string wanted;             // Finding::bug() of the one that it is about

  std::string text() const;  // of the findings
};

// The arguments of `run` that make this point again, and no other.
std::vector<std::string> replay_arguments(const Algorithm& algorithm, const Point& point,
                                          const RunOptions& options);

// Writes the file, under a name of its own if `file` is empty; returns the name.
std::string write_replay(const Replay& replay, const std::string& file);
// Throws UsageError for a file of another build, of another format, or one that was edited.
Replay read_replay(const std::string& file);

// The run that a replay stands for. `options` may have been changed since.
struct ReplayedRun {
  Point point;
  RunOptions options;
};
ReplayedRun run_of(const Registry& registry, const Replay& replay);
// What the run finds, each once, wrong data included.
std::vector<Finding> found_by(const Outcome& outcome);

}  // namespace sym::command
