#include "tests/conformance/cases_distributed_gemm.hpp"
#include "tests/conformance/stamp_fiber.hpp"

SYM_STAMP_FIBER(DistributedGemm, sym::conformance::distributed_gemm_cases)
