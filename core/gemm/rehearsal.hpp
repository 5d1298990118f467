// Rehearsal: walks of all ranks, run symbolically with vector clocks. What verify.hpp promises,
// save for the volume, is found here.
#pragma once

#include <string>
#include <vector>

#include "core/gemm/plan.hpp"

namespace sym::gemm {

// What went wrong in `calls` calls that follow each other with nothing between: a sentence each, at
// most a few.
std::vector<std::string> rehearse(const Plan& plan, int calls);

}  // namespace sym::gemm
