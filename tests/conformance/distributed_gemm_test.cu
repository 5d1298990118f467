#include "tests/conformance/cases_distributed_gemm.hpp"
#include "tests/conformance/stamp_cuda.cuh"

SYM_STAMP_CUDA(DistributedGemm, sym::conformance::distributed_gemm_cases)
