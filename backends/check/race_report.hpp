// How the race detector's findings read, for people and for machines.
#pragma once

#include <string>
#include <vector>

#include "backends/check/behind.hpp"
#include "backends/check/counting.hpp"
#include "backends/check/shadow.hpp"

namespace sym::check {

// The latest wait of an agent that did not give it what it may have hoped for.
struct WeakWait {
  fiber::Verb verb = fiber::Verb::wait_until;
  Site site;
  std::uint64_t value = 0;      // that it waited for
  std::vector<Signal> unknown;  // it counted some of these, and no particular one
  bool nothing_new = false;     // it counted only what had been counted before
};

// Two accesses that nothing orders. `memory` names where; `weak` is of the later one's agent;
// `lapped`: one is a transfer of a later round than the other one's agent has waited for; `behind`:
// what the earlier one's issuer has done since, if it is a transfer.
fiber::Finding race_finding(const Access& earlier, const Access& later, const std::string& memory,
                            const WeakWait& weak, bool lapped, const Behind& behind);
// A launch enters a channel and nothing says that the one that has left it had left it by then.
fiber::Finding busy_finding(const Access& earlier, const Access& later);
// Two accesses of one block that other lanes may do.
fiber::Finding missing_sync_finding(const Access& earlier, const Access& later);
fiber::Place place_of(const Access& access, const char* role);

}  // namespace sym::check
