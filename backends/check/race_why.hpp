// Why nothing orders two accesses, and what usually would.
#pragma once

#include <string>

#include "backends/check/race_report.hpp"

namespace sym::check {

struct Why {
  std::string why, fix;
};

// Of two that nothing orders; `weak`, `lapped` and `behind` as of race_finding. What mends it
// depends on who the two are (lanes, blocks, queues, hosts; of one PE or of two) and on which of
// them is a transfer under way: only what can work for that pair is named.
Why why_unordered(const Access& earlier, const Access& later, const WeakWait& weak, bool lapped,
                  const Behind& behind = {});

}  // namespace sym::check
