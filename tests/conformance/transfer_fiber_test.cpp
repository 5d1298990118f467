#include "tests/conformance/cases_transfer.hpp"
#include "tests/conformance/stamp_fiber.hpp"

SYM_STAMP_FIBER(Transfer, sym::conformance::transfer_cases)
