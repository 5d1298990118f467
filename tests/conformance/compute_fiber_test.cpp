#include "tests/conformance/cases_compute.hpp"
#include "tests/conformance/stamp_fiber.hpp"

SYM_STAMP_FIBER(Compute, sym::conformance::compute_cases)
