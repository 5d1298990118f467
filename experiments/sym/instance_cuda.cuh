// The world that instances of this backend are stamped for.
#pragma once

#include "backends/cuda/launch.cuh"
#include "experiments/sym/dtypes.hpp"

namespace sym::command {
using world_cuda = cuda::CudaWorld;
}  // namespace sym::command
