// MutationRun: the mutants of one variant of an algorithm, and what the checker makes of each.
#pragma once

#include <string>
#include <vector>

#include "experiments/sym/point.hpp"
#include "experiments/sym/registry.hpp"

namespace sym::command {

struct MutateOptions {
  std::string schedule = "worst";
  std::uint64_t seed = 1;
  int random_seeds = 10;     // that a survivor is tried with besides
  double proof_seconds = 2;  // that a search may take for one mutant and shape; 0: none is made
};

struct MutantResult {
  std::string variant;
  std::string group;   // of the synchronisation: fence, quiet, sync, wait, credit, ...
  std::string site;    // "core/collective/ring.hpp:36 fence"
  std::string change;  // "dropped"
  // killed, hang (killed by a deadlock), equivalent (others order the same), vacuous (there is
  // nothing to order) or survived.
  std::string verdict;
  std::string kind;   // of the first finding: race, deadlock, ..., wrong data
  std::string shape;  // the size that killed it, in words
  std::string found;  // the finding's first line
  // Survivors: what other synchronisation orders the same, other schedules that find it, how far a
  // search went.
  std::string note;
};

struct VariantResult {
  std::string variant;
  std::size_t runs = 0;
  // Barriers and synchronize() of the host program, in an iteration, and those left out because
  // the algorithm's own synchronisation has to do without them.
  int host_calls = 0, host_calls_dropped = 0;
  std::vector<MutantResult> mutants;
};

// `points`: shapes of one variant, that together reach all of it; `small` ones of at most three PEs
// are for proofs. Each trial is a process of its own. Throws Failure if the program itself has
// findings, Unavailable without the checker.
VariantResult run_mutants(const Algorithm& algorithm, const std::vector<Point>& points,
                          const std::vector<Point>& small, const MutateOptions& options);

// The program's place in the source tree, short: from core/, experiments/ or tests/ on.
std::string short_site(const std::string& text);

}  // namespace sym::command
