#include "tests/conformance/cases_collective.hpp"
#include "tests/conformance/stamp_cuda.cuh"

SYM_STAMP_CUDA(Collective, sym::conformance::collective_cases)
