// The verbs of the command, one function each: they return the exit status.
#pragma once

#include <string>
#include <vector>

#include "experiments/sym/options.hpp"
#include "experiments/sym/registry.hpp"

namespace sym::command {

// What of the command line is not an option: how findings name the program to replay them with.
struct Invocation {
  const Registry& registry;
  std::string program;  // argv[0]
};

// Runs the cross product of PE counts, sizes and variants, prints rows as they come, writes files.
int run_command(const Invocation& invocation, const RunOptions& options);

int replay_command(const Invocation& invocation, const std::string& file);
// Makes a finding's run smaller; `out`: the new file's name, or empty for one of its own.
int shrink_command(const Invocation& invocation, const std::string& file, const std::string& out);
int list_command(const Invocation& invocation, bool json);
int machine_command(const std::string& name, const std::string& out, const std::string& what_if);
int doctor_command();
// `columns`: where `measured` is a table of nccl-tests, those with its times.
int compare_command(const std::string& measured, const std::string& simulated,
                    const std::vector<std::string>& columns);

// The arguments of `run` as a parser fills them in (also from a replay file). Throws UsageError.
RunOptions parse_run(const Registry& registry, const std::vector<std::string>& arguments);

}  // namespace sym::command
