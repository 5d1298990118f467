#include "tests/conformance/cases_launch.hpp"
#include "tests/conformance/stamp_fiber.hpp"

SYM_STAMP_FIBER(Launch, sym::conformance::launch_cases)
