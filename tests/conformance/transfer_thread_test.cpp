#include "tests/conformance/cases_transfer.hpp"
#include "tests/conformance/stamp_thread.hpp"

SYM_STAMP_THREAD(Transfer, sym::conformance::transfer_cases)
