#include "tests/conformance/cases_entry.hpp"
#include "tests/conformance/stamp_thread.hpp"

SYM_STAMP_THREAD(Entry, sym::conformance::entry_cases)
