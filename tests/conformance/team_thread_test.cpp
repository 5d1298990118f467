#include "tests/conformance/cases_team.hpp"
#include "tests/conformance/stamp_thread.hpp"

SYM_STAMP_THREAD(Team, sym::conformance::team_cases)
