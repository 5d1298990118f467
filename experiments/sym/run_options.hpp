// The options of `sym run`, for the parser.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "experiments/sym/options.hpp"

namespace sym::command {

// What the parser fills in as text before it is understood.
struct RawRun {
  std::string pes, sizes, bytes, begin, end, factor, knobs, budget, gpus_per_thread, seed, head;
  std::string schedule = "worst";
  std::string tokens, hidden, capacity, routing, splits, m, n, k, rows, cols, tiles;
  long long alignment = 1;
  int warm_up = 0;
};

void add_run_options(CLI::App& run, RunOptions& options, RawRun& raw);

// Throws UsageError for an option with an empty value, which none takes: it is a variable of a
// script that was not set.
void refuse_empty(const std::vector<std::string>& arguments);

// Parses, and refuses what the parser did not know in one sentence with the nearest that exists.
void parse(CLI::App& app, std::vector<std::string> arguments);

}  // namespace sym::command
