// The world that instances of this backend are stamped for.
#pragma once

#include "backends/fiber/world.hpp"
#include "experiments/sym/dtypes.hpp"

namespace sym::command {
using world_fiber = fiber::FiberWorld;
}  // namespace sym::command
