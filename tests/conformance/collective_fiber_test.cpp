#include "tests/conformance/cases_collective.hpp"
#include "tests/conformance/stamp_fiber.hpp"

SYM_STAMP_FIBER(Collective, sym::conformance::collective_cases)
