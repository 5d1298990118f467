// sym mutate: each synchronisation of an algorithm dropped or weakened in turn, under the checker.
#pragma once

#include <string>
#include <vector>

#include "experiments/sym/commands.hpp"
#include "experiments/sym/mutate_run.hpp"

namespace sym::command {

// `arguments` are those after `mutate`: the algorithm, options of `sym run --backend check` that
// say the shape (4 PEs, 2 blocks, three launches and small sizes otherwise), and
//   --csv F, --json F     every mutant
//   --expect F            a CSV of an earlier run: exit status 1 if what was killed survives now
//   --min-score P         exit status 1 if of some group less than P percent are killed
//   --proof-seconds S     of an exhaustive search for each survivor (2; 0: none)
// Returns the exit status.
int mutate_command(const Invocation& invocation, const std::vector<std::string>& arguments);

// --- mutate_report.cpp ---------------------------------------------------------------------------

// A table of groups, and each survivor with what is known of it.
void print_mutants(const std::string& algorithm, const VariantResult& result);
void print_score(const std::string& algorithm, const std::vector<VariantResult>& results);
// The groups of which less than `least` percent are killed, of those that are not equivalent, over
// all variants: a sentence each. Groups without any have nothing to fear.
std::vector<std::string> groups_below(double least, const std::vector<VariantResult>& results);
// Throw UsageError if the file cannot be written.
void write_mutants_csv(const std::string& file, const std::string& algorithm,
                       const std::vector<VariantResult>& results);
void write_mutants_json(const std::string& file, const std::string& algorithm,
                        const std::vector<VariantResult>& results);
// Throws UsageError unless it is a CSV that write_mutants_csv has written.
void require_mutants_csv(const std::string& file);
// Those that the CSV says were killed and that are not now, one line each. Mutants that are not
// there any more, and new ones, are no matter; throws UsageError if there are no others.
std::vector<std::string> lost_kills(const std::string& file, const std::string& algorithm,
                                    const std::vector<VariantResult>& results);

}  // namespace sym::command
