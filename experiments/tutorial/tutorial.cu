// The same program, stamped for GPUs.
#include "backends/cuda/launch.cuh"
#include "experiments/tutorial/program.hpp"

template sym::command::PointResult tutorial::run_all_to_all<sym::cuda::CudaWorld>(
    sym::cuda::CudaWorld&, const sym::command::Point&);
