#include "tests/conformance/cases_rms_norm.hpp"
#include "tests/conformance/stamp_cuda.cuh"

SYM_STAMP_CUDA(RmsNorm, sym::conformance::rms_norm_cases)
