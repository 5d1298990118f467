#include "tests/conformance/cases_packets.hpp"
#include "tests/conformance/stamp_cuda.cuh"

SYM_STAMP_CUDA(Packets, sym::conformance::packets_cases)
