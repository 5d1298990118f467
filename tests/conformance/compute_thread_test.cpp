#include "tests/conformance/cases_compute.hpp"
#include "tests/conformance/stamp_thread.hpp"

SYM_STAMP_THREAD(Compute, sym::conformance::compute_cases)
