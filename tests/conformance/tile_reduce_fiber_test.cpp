#include "tests/conformance/cases_tile_reduce.hpp"
#include "tests/conformance/stamp_fiber.hpp"

SYM_STAMP_FIBER(TileReduce, sym::conformance::tile_reduce_cases)
