#include "tests/conformance/cases_scale.hpp"
#include "tests/conformance/stamp_cuda.cuh"

SYM_STAMP_CUDA(Scale, sym::conformance::scale_cases)
