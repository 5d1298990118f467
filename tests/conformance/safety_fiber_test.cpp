#include "tests/conformance/cases_safety.hpp"
#include "tests/conformance/stamp_fiber.hpp"

SYM_STAMP_FIBER(Safety, sym::conformance::safety_cases)
