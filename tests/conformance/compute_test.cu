#include "tests/conformance/cases_compute.hpp"
#include "tests/conformance/stamp_cuda.cuh"

SYM_STAMP_CUDA(Compute, sym::conformance::compute_cases)
