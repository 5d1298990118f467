#include "tests/conformance/cases_copies.hpp"
#include "tests/conformance/stamp_cuda.cuh"

SYM_STAMP_CUDA(Copies, sym::conformance::copy_cases)
