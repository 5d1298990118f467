#include "tests/conformance/cases_launch.hpp"
#include "tests/conformance/stamp_cuda.cuh"

SYM_STAMP_CUDA(Launch, sym::conformance::launch_cases)
