#include "tests/conformance/cases_rms_norm.hpp"
#include "tests/conformance/stamp_fiber.hpp"

SYM_STAMP_FIBER(RmsNorm, sym::conformance::rms_norm_cases)
