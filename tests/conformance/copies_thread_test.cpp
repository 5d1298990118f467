#include "tests/conformance/cases_copies.hpp"
#include "tests/conformance/stamp_thread.hpp"

SYM_STAMP_THREAD(Copies, sym::conformance::copy_cases)
