// What the race detector keeps with each agent.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "backends/check/race_report.hpp"

namespace sym::check {

// Kept with an agent. `shared` is a copy that released notes point at: it is made anew only after
// an acquire, because the agent's own tick travels beside it.
struct AgentNote : fiber::Note {
  Clock clock;  // of others, and of own transfers
  std::uint64_t tick = 1;
  std::uint64_t released = 0;  // the last tick that others may know
  std::uint64_t lane_epoch = 1;
  std::uint64_t waits = 0;
  std::map<int, std::uint64_t> fenced;  // PE -> own transfers so far, at the last fence
  WeakWait weak;
  std::shared_ptr<const Clock> shared;

  // What the agent does from here on is not before anything that it has released so far. Releases
  // with nothing between them have one tick, so that who knows of one of them has them all.
  void move_on() {
    if (released == tick) ++tick;
  }
  std::uint64_t release() { return released = tick; }
  const std::shared_ptr<const Clock>& snapshot(AgentId agent, Clock::Pool& pool) {
    if (shared == nullptr) {
      clock.set_tick(agent, tick);  // as others will know it: then clocks can be alike
      clock.share(pool);
      shared = std::make_shared<const Clock>(clock);
    }
    return shared;
  }
};

inline AgentNote& note_of(const fiber::Agent& agent) {
  return static_cast<AgentNote&>(*agent.note);
}

}  // namespace sym::check
