#include "tests/conformance/cases_transfer.hpp"
#include "tests/conformance/stamp_cuda.cuh"

SYM_STAMP_CUDA(Transfer, sym::conformance::transfer_cases)
