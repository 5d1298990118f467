#include "tests/conformance/cases_packets.hpp"
#include "tests/conformance/stamp_thread.hpp"

SYM_STAMP_THREAD(Packets, sym::conformance::packets_cases)
