// sym plan: what a distributed GEMM implies, for each schedule, and whether it is right; without
// running anything.
#pragma once

#include <string>
#include <vector>

#include "experiments/sym/commands.hpp"

namespace sym::command {

// `arguments` are those after `plan`. Returns the exit status: 1 if a plan does not verify.
int plan_command(const Invocation& invocation, const std::vector<std::string>& arguments);

}  // namespace sym::command
