// The times of sym calibrate's tests on GPUs. Its .cu file holds the kernels.
#pragma once

#include <functional>
#include <vector>

#include "backends/cuda/cuda_world.hpp"
#include "models/calibrate.hpp"

namespace sym::command {

std::vector<double> calibration_times_on_cuda(cuda::CudaWorld& world,
                                              const std::vector<models::Sample>& tests,
                                              const std::function<void(std::size_t)>& progress);

}  // namespace sym::command
