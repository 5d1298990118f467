// How a kernel object becomes a grid. For .cu files.
#pragma once

#include "backends/cuda/cuda_block.cuh"
#include "backends/cuda/cuda_world.hpp"

namespace sym::cuda {

// At most 128 registers a lane, and one block an SM is enough: or ptxas sometimes spills to make
// two fit.
template <class Kernel>
__global__ void __launch_bounds__(most_threads, 1)
    run_kernel(const __grid_constant__ Kernel kernel,
               const __grid_constant__ KernelContext context) {
  CudaBlock block(context);
  kernel(block);
}

template <class Kernel>
void CudaWorld::launch(const LaunchConfig& config, const Kernel& kernel) {
  static_assert(std::is_trivially_copyable_v<Kernel>, "kernels are copied to the device by value");
  launch_function(config, reinterpret_cast<const void*>(&run_kernel<Kernel>), &kernel);
}

template <class Kernel>
void CudaQueue::launch(const LaunchConfig& config, Kernel kernel) {
  copies_ = false;
  LaunchConfig here = config;
  here.stream = number_;
  world_.launch(here, kernel);
}

static_assert(World<CudaWorld>);

}  // namespace sym::cuda
