// How long a distributed GEMM should take on a machine, by its plan and a few of the machine's
// numbers alone. A first look before `sym run gemm --backend sim`, which moves every transfer.
#pragma once

#include "core/gemm/plan.hpp"
#include "models/machine.hpp"

namespace sym::command {

struct PlanTime {
  double stages_us = 0;   // products of the busiest rank, one after the other
  double copies_us = 0;   // what the busiest rank fetches, tiles and addends, at link rate
  double total_us = 0;    // from the start to the end of the last rank
  double unsplit_us = 0;  // the whole product on one GPU, divided by the number of ranks
  double exposed_us() const { return total_us > stages_us ? total_us - stages_us : 0; }
};

// Copies run one after the other at the copy engine's rate and products one after the other at the
// GPU's; a product waits for its copies and its addend, and one whose addend is a peer's takes at
// least as long as the addend takes to be read. The link is taken to be free: each rank is read by
// one other (Properties). `element` is a size in bytes; products take as long as bf16's, which is
// right for types of 2 bytes only. All ranks must be in one node (UsageError).
PlanTime predict(const gemm::Plan& plan, const models::Machine& machine, std::size_t element);

}  // namespace sym::command
