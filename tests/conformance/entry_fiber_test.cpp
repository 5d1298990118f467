#include "tests/conformance/cases_entry.hpp"
#include "tests/conformance/stamp_fiber.hpp"

SYM_STAMP_FIBER(Entry, sym::conformance::entry_cases)
