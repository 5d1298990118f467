#include "tests/conformance/cases_copies.hpp"
#include "tests/conformance/stamp_fiber.hpp"

SYM_STAMP_FIBER(Copies, sym::conformance::copy_cases)
