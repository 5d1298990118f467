#include "tests/conformance/cases_team.hpp"
#include "tests/conformance/stamp_fiber.hpp"

SYM_STAMP_FIBER(Team, sym::conformance::team_cases)
