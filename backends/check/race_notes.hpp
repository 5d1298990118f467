// What the race detector keeps with each agent.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "backends/check/behind.hpp"
#include "backends/check/race_report.hpp"

namespace sym::check {

// What a block knew, had done and had fenced at its last sync.
struct AtSync {
  std::shared_ptr<const Clock> clock;
  std::uint64_t tick = 0;
  std::map<int, std::uint64_t> fenced;  // PE -> transfers to it that a fence covers
  std::uint64_t fenced_to(int pe) const {
    const auto found = fenced.find(pe);
    return found == fenced.end() ? 0 : found->second;
  }
};

// Kept with an agent. `shared` is a copy that released notes point at: it is made anew only after
// an acquire, because the agent's own tick travels beside it.
struct AgentNote : fiber::Note {
  AgentId id = 0;  // in clocks: RaceDetector::number
  Clock clock;     // of others, and of own transfers
  std::uint64_t tick = 1;
  std::uint64_t released = 0;  // the last tick that others may know
  std::uint64_t lane_epoch = 1;
  std::uint64_t waits = 0;
  std::uint64_t adds = 0;               // fetch_adds to words
  std::map<int, std::uint64_t> fenced;  // PE -> own transfers so far, at the last fence
  WeakWait weak;
  Calls calls;    // for reports, as the next
  Looked looked;  // the last
  std::shared_ptr<const Clock> shared;
  // Where a mutation leaves syncs out. `parted`: since the last sync, what the block has acquired,
  // completed and fenced is known to one lane, or to each of its own part; all of them know what
  // they knew at the sync.
  bool parted = false;
  AtSync at_sync;

  // What the agent does from here on is not before anything that it has released so far. Releases
  // with nothing between them have one tick, so that who knows of one of them has them all.
  void move_on() {
    if (released == tick) ++tick;
  }
  std::uint64_t release() { return released = tick; }
  // All lanes of the block meet; what comes from here on is told apart from what was before.
  void meet(const fiber::Agent& agent) {
    parted = false;
    Clock all = clock;
    all.set_tick(id, tick);
    at_sync.clock = std::make_shared<const Clock>(std::move(all));
    at_sync.tick = tick++;
    for (const auto& [pe, to_pe] : agent.to_pe) at_sync.fenced[pe] = to_pe.fenced;
  }
  const std::shared_ptr<const Clock>& snapshot(Clock::Pool& pool) {
    if (shared == nullptr) {
      clock.set_tick(id, tick);  // as others will know it: then clocks can be alike
      clock.share(pool);
      shared = std::make_shared<const Clock>(clock);
    }
    return shared;
  }
};

inline AgentNote& note_of(const fiber::Agent& agent) {
  return static_cast<AgentNote&>(*agent.note);
}
inline AgentId id_of(const fiber::Agent& agent) { return note_of(agent).id; }

// Whether `x` is complete for somebody whose clock is `clock`, beside what it did itself.
bool known(const Access& x, const Clock& clock);
// Whether one block's lanes do both in program order, each its own part, though no sync lies
// between.
bool lane_by_lane(const Access& a, const Access& b);
// What the agent's step does to the bytes.
Access describe(const fiber::Agent& agent, const fiber::Bytes& bytes, bool write);

}  // namespace sym::check
