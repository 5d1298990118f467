#include "tests/conformance/cases_moe.hpp"
#include "tests/conformance/cases_moe_refusals.hpp"
#include "tests/conformance/stamp_cuda.cuh"

SYM_STAMP_CUDA(Moe, sym::conformance::moe_cases)
SYM_STAMP_CUDA(MoeHost, sym::conformance::moe_host_cases)
SYM_STAMP_CUDA(MoeRecovery, sym::conformance::moe_recovery_cases)
