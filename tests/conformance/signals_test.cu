#include "tests/conformance/cases_signals.hpp"
#include "tests/conformance/stamp_cuda.cuh"

SYM_STAMP_CUDA(Signals, sym::conformance::signal_cases)
