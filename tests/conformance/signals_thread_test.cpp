#include "tests/conformance/cases_signals.hpp"
#include "tests/conformance/stamp_thread.hpp"

SYM_STAMP_THREAD(Signals, sym::conformance::signal_cases)
