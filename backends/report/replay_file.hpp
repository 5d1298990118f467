// Replay files: a run of the checker with everything that it takes to have it again.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backends/report/finding.hpp"

namespace sym::report {

struct Replay {
  std::vector<std::string> arguments;  // of the program
  std::vector<std::uint32_t> decisions;
  bool exact = true;              // see CheckOptions::exact_replay
  std::vector<Finding> findings;  // of the run, each once
  std::string wanted;             // Finding::bug() of the one that it is about

  std::string text() const;  // of the findings
};

// What makes the same run of the same arguments and decisions; two builds that may differ in it
// have different ones. See build.hpp for that of the tree alone.
using Identity = std::string;

// Writes the file, under a name of its own if `file` is empty; returns the name. Throws UsageError
// if it cannot be written. Only where has_json().
std::string write_replay(const Replay& replay, const std::string& file, const Identity& identity);
// Throws UsageError for a file of another build, of another format, or one that was edited.
Replay read_replay(const std::string& file, const Identity& identity);

// How a replay ends: prints what `again` found and whether it is what the file says, word for word.
// Returns the exit status: 1 the same, 2 not.
int compare_replays(const Replay& replay, const Replay& again);

}  // namespace sym::report
