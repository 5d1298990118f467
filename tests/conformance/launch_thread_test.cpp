#include "tests/conformance/cases_launch.hpp"
#include "tests/conformance/stamp_thread.hpp"

SYM_STAMP_THREAD(Launch, sym::conformance::launch_cases)
