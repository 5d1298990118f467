#include <algorithm>
#include <map>
#include <random>

#include "backends/check/decisions.hpp"

namespace sym::check {

using fiber::Engine;

namespace {
constexpr std::uint64_t patience = 64;  // steps in vain after which a poller loses its priority
}

struct Pct::State {
  explicit State(std::uint64_t seed) : random(seed) {}
  std::mt19937_64 random;
  // (step, priority) at which, and to which, one falls: by step. The priorities are -1, -2, ... in
  // an order that has nothing to do with that of the steps.
  std::vector<std::pair<std::uint64_t, std::int64_t>> changes;
  std::size_t next_change = 0;
  std::uint64_t step = 0;
  // At first above 0, at random. Polling in vain gives what is below all.
  std::map<std::pair<int, int>, std::int64_t> priorities;
  std::int64_t lowest = 0;
  std::unique_ptr<Chooser> details;
};

Pct::Pct(std::uint64_t seed, int depth, std::uint64_t steps)
    : state_(std::make_unique<State>(seed)) {
  State& state = *state_;
  for (int change = 1; change < depth; ++change) {
    state.changes.emplace_back(1 + state.random() % std::max<std::uint64_t>(steps, 1), -change);
  }
  state.lowest = -depth;
  std::sort(state.changes.begin(), state.changes.end());
  state.details = choose_at_random(state.random());
}

Pct::~Pct() = default;

std::size_t Pct::actors() const { return state_->priorities.size(); }

void Pct::listed(Event& event) {
  const auto [found, added] = state_->priorities.try_emplace(event.actor(), 0);
  if (added) found->second = 1 + static_cast<std::int64_t>(state_->random() >> 2);
  event.priority = found->second;
}

// Events of one channel have one priority: each of them with equal chance.
std::size_t Pct::highest(Engine& engine, const std::vector<Event>& events) {
  std::size_t best = 0;
  std::uint64_t equal = 0;
  for (std::size_t at = 0; at < events.size(); ++at) {
    const Event& event = events[at];
    if (equal > 0 && event.priority < events[best].priority) continue;
    if (event.transfer != nullptr && !engine.eligible(*event.transfer)) continue;
    if (equal == 0 || event.priority > events[best].priority) {
      equal = 1;
      best = at;
    } else if (state_->random() % ++equal == 0) {
      best = at;
    }
  }
  return best;
}

void Pct::lower(std::vector<Event>& events, std::pair<int, int> actor, std::int64_t priority) {
  state_->priorities[actor] = priority;
  for (Event& event : events) {
    if (event.actor() == actor) event.priority = priority;
  }
}

std::size_t Pct::event(Engine& engine, std::vector<Event>& events) {
  State& state = *state_;
  ++state.step;
  std::size_t chosen = highest(engine, events);
  while (state.next_change < state.changes.size() &&
         state.step >= state.changes[state.next_change].first) {
    lower(events, events[chosen].actor(), state.changes[state.next_change++].second);
    chosen = highest(engine, events);
  }
  if (engine.fruitless_steps() >= patience && events[chosen].agent != nullptr) {
    lower(events, events[chosen].actor(), --state.lowest);
    chosen = highest(engine, events);
  }
  return chosen;
}

std::uint32_t Pct::delivery(bool unread, std::uint32_t granules) {
  return state_->details->delivery(unread, granules);
}
std::uint32_t Pct::answer(std::uint32_t n) { return state_->details->answer(n); }

}  // namespace sym::check
