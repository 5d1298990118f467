// What each variant of a collective takes inside one node, by closed forms over the machine's
// numbers: latency plus bytes over the rate of whatever moves them, without contention (Thakur et
// al., 2005). Nothing here depends on a size or a number of PEs but through those numbers.
#pragma once

#include <string>
#include <vector>

#include "models/machine.hpp"

namespace sym::models {

// One call. `bytes` are those that nccl-tests calls size. Pieces of a share and bytes of a head
// that are asked for; 0 and -1: as many as the machine's numbers say.
struct Job {
  std::string algorithm;
  int pes = 1;
  double bytes = 0;
  int pieces = 0;
  double head_bytes = -1;
};

struct Term {
  std::string what;
  double us = 0;
};

// A variant with so many blocks, and what its time is the sum of.
struct Estimate {
  std::string variant;
  int blocks = 1;
  std::vector<Term> terms;
  double us = 0;
};

// Whether estimate() knows the variant. "nccl" is NCCL's own call, where the machine has its
// numbers.
bool has_estimate(const Machine& machine, const std::string& algorithm, const std::string& variant);

// Throws std::invalid_argument for what has none. blocks >= 1.
Estimate estimate(const Machine& machine, const Job& job, const std::string& variant, int blocks);

// How long each piece of `staged` is beside the one before: as long as it takes to copy while that
// one is reduced. At most 1.
double shrink_of(const Machine& machine, int pes);

// Between two copies of a queue: the first one's flag, and the start of the second.
double copied_piece_us(const Machine& machine);

// What part of a share the last of so many pieces of `staged` is.
double last_piece(const Machine& machine, int pes, int pieces);

// In how many pieces the variants `push` and `staged` send a share, at least 1: what is left behind
// the last piece is its own reduction, and each costs its flag. For pieces of one length (push), C
// x flag + reduction / C is least for C = sqrt(reduction / flag).
int pieces_of_share(const Machine& machine, const Job& job, const std::string& variant, int blocks);

// Bytes of each part that blocks of `copy_engine` put, while its first copy starts: none where a
// machine's copies start at once.
double head_bytes(const Machine& machine, const Job& job, int blocks);

}  // namespace sym::models
