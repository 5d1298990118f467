#include "tests/conformance/cases_tile_reduce.hpp"
#include "tests/conformance/stamp_thread.hpp"

SYM_STAMP_THREAD(TileReduce, sym::conformance::tile_reduce_cases)
