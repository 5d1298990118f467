#include "tests/conformance/cases_scale.hpp"
#include "tests/conformance/stamp_fiber.hpp"

SYM_STAMP_FIBER(Scale, sym::conformance::scale_cases)
