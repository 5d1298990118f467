#include "tests/conformance/cases_distributed_gemm.hpp"
#include "tests/conformance/stamp_thread.hpp"

SYM_STAMP_THREAD(DistributedGemm, sym::conformance::distributed_gemm_cases)
