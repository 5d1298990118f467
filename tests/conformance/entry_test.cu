#include "tests/conformance/cases_entry.hpp"
#include "tests/conformance/stamp_cuda.cuh"

SYM_STAMP_CUDA(Entry, sym::conformance::entry_cases)
