#include "tests/conformance/cases_safety.hpp"
#include "tests/conformance/stamp_cuda.cuh"

SYM_STAMP_CUDA(Safety, sym::conformance::safety_cases)
SYM_STAMP_CUDA(SafetyRecovery, sym::conformance::safety_recovery_cases)
