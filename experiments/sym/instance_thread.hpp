// The world that instances of this backend are stamped for.
#pragma once

#include "backends/thread/world.hpp"
#include "experiments/sym/dtypes.hpp"

namespace sym::command {
using world_thread = thread::ThreadWorld;
}  // namespace sym::command
