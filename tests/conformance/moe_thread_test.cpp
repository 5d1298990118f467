#include "tests/conformance/cases_moe.hpp"
#include "tests/conformance/cases_moe_refusals.hpp"
#include "tests/conformance/stamp_thread.hpp"

SYM_STAMP_THREAD(Moe, sym::conformance::moe_cases)
SYM_STAMP_THREAD(MoeHost, sym::conformance::moe_host_cases)
SYM_STAMP_THREAD(MoeRecovery, sym::conformance::moe_recovery_cases)
