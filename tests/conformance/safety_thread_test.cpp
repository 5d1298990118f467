#include "tests/conformance/cases_safety.hpp"
#include "tests/conformance/stamp_thread.hpp"

SYM_STAMP_THREAD(Safety, sym::conformance::safety_cases)
SYM_STAMP_THREAD(SafetyRecovery, sym::conformance::safety_recovery_cases)
