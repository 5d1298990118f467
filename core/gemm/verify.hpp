// Proof, on a CPU and for any number of ranks, that a plan is right.
#pragma once

#include <string>
#include <vector>

#include "core/gemm/plan.hpp"

namespace sym::gemm {

// What is wrong, a sentence each; nothing if the plan is right. Two calls in a row are walked
// (walk.hpp) symbolically, with vector clocks for what is ordered by queues, marks and flags, and
// it is shown that
//  - neither ends in a wait that nothing fulfils;
//  - no flag is set before it was taken;
//  - everything that is read was written before, and is what the plan takes it for, of this call;
//  - nothing is overwritten before its last reader is done, operands included, which each rank
//    overwrites as soon as its own call has ended;
//  - at the end every tile of D lies with its owner and holds each product once, C once, the bias
//    once;
//  - the volume is that of the schedule's closed form, if it has one (not with limited buffers,
//  which
//    may have to be filled twice).
// The order of a plan's operations does not depend on timing, so one walk stands for all.
std::vector<std::string> check_plan(const Plan& plan);

// check_schedule, and if that finds nothing, check_plan of what is derived. Throws UsageError as
// derive does.
std::vector<std::string> verify(const Schedule& schedule, const Tiling& tiling,
                                const PlanOptions& options = {});

}  // namespace sym::gemm
