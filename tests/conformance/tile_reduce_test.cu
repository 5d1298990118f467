#include "tests/conformance/cases_tile_reduce.hpp"
#include "tests/conformance/stamp_cuda.cuh"

SYM_STAMP_CUDA(TileReduce, sym::conformance::tile_reduce_cases)
