#include "tests/conformance/cases_collective.hpp"
#include "tests/conformance/stamp_thread.hpp"

SYM_STAMP_THREAD(Collective, sym::conformance::collective_cases)
