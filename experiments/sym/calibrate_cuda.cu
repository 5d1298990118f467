#include "backends/cuda/launch.cuh"
#include "experiments/sym/calibrate_cuda.hpp"
#include "experiments/sym/calibrate_run.hpp"

namespace sym::command {

std::vector<double> calibration_times_on_cuda(cuda::CudaWorld& world,
                                              const std::vector<models::Sample>& tests,
                                              const std::function<void(std::size_t)>& progress) {
  return calibration_times(world, tests, progress);
}

}  // namespace sym::command
