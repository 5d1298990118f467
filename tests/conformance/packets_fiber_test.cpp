#include "tests/conformance/cases_packets.hpp"
#include "tests/conformance/stamp_fiber.hpp"

SYM_STAMP_FIBER(Packets, sym::conformance::packets_cases)
