#include "tests/conformance/cases_pieces.hpp"
#include "tests/conformance/stamp_cuda.cuh"

SYM_STAMP_CUDA(Tally, sym::conformance::tally_cases)
SYM_STAMP_CUDA(Pieces, sym::conformance::pieces_cases)
SYM_STAMP_CUDA(Require, sym::conformance::require_cases)
