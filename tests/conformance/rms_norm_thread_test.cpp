#include "tests/conformance/cases_rms_norm.hpp"
#include "tests/conformance/stamp_thread.hpp"

SYM_STAMP_THREAD(RmsNorm, sym::conformance::rms_norm_cases)
