#include "tests/conformance/cases_team.hpp"
#include "tests/conformance/stamp_cuda.cuh"

SYM_STAMP_CUDA(Team, sym::conformance::team_cases)
