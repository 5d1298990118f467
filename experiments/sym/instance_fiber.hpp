// The world that instances of this backend are stamped for.
#pragma once

#include "backends/fiber/world.hpp"
#include "experiments/sym/dtypes.hpp"

namespace sym::command {
using InstanceWorld = fiber::FiberWorld;
}  // namespace sym::command
