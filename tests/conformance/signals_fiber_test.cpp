#include "tests/conformance/cases_signals.hpp"
#include "tests/conformance/stamp_fiber.hpp"

SYM_STAMP_FIBER(Signals, sym::conformance::signal_cases)
