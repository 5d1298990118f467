#include "tests/conformance/cases_scale.hpp"
#include "tests/conformance/stamp_thread.hpp"

SYM_STAMP_THREAD(Scale, sym::conformance::scale_cases)
SYM_STAMP_THREAD(ScaleRecovery, sym::conformance::scale_recovery_cases)
