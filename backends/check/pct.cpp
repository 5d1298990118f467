#include <algorithm>
#include <map>
#include <random>
#include <tuple>

#include "backends/check/adversary.hpp"
#include "backends/check/decisions.hpp"

namespace sym::check {

using fiber::Engine;

namespace {
constexpr std::uint64_t poller_patience =
    64;  // steps in vain after which a poller loses its priority
constexpr std::uint64_t late_turn_steps = 1024;  // once a run is too long for any promise

// (agent, PE, packets and gets, place in the order of issue since what orders them); the PE is -1
// for the agent itself.
using Name = std::tuple<int, int, bool, std::uint64_t>;
}  // namespace

struct Pct::State {
  explicit State(std::uint64_t seed) : random(seed) {}
  std::mt19937_64 random;
  // (step, priority) at which, and to which, one falls: by step. The priorities are -1, -2, ... in
  // an order that has nothing to do with that of the steps.
  std::vector<std::pair<std::uint64_t, std::int64_t>> changes;
  std::size_t next_change = 0;
  std::uint64_t step = 0;
  std::uint64_t steps = 0;  // of a run, as it was thought
  // Of the transfers of an agent to a PE: how many chains there are since the last fence or quiet.
  struct Issued {
    std::uint64_t fences = 0, quiets = 0;
    std::uint64_t chains = 0;
  };
  std::map<std::tuple<int, int, bool>, Issued> issued;
  std::map<int, std::uint64_t> quiets;  // by agent
  std::map<Name, std::size_t> actors;
  // At first above 0, at random. Polling in vain gives what is below all.
  std::vector<std::int64_t> priorities;
  std::int64_t lowest = 0;
  std::unique_ptr<Chooser> details;
};

Pct::Pct(std::uint64_t seed, int depth, std::uint64_t steps)
    : state_(std::make_unique<State>(seed)) {
  State& state = *state_;
  state.steps = steps;
  for (int change = 1; change < depth; ++change) {
    state.changes.emplace_back(1 + state.random() % std::max<std::uint64_t>(steps, 1), -change);
  }
  state.lowest = -depth;
  std::sort(state.changes.begin(), state.changes.end());
  state.details = choose_at_random(state.random());
}

Pct::~Pct() = default;

std::size_t Pct::actors() const { return state_->priorities.size(); }

std::size_t Pct::actor_of(const Event& event) {
  State& state = *state_;
  Name name;
  if (event.agent != nullptr) {
    name = {event.agent->id, -1, false, 0};
    if (event.agent->step.verb == fiber::Verb::quiet) ++state.quiets[event.agent->id];
  } else {
    const fiber::Transfer& transfer = *event.transfer;
    const int agent = transfer.issuer->id;
    const bool fenced = transfer.kind != fiber::Transfer::Kind::get && !transfer.packet;
    State::Issued& issued = state.issued[{agent, transfer.target(), fenced}];
    const std::uint64_t quiets = state.quiets[agent];
    const std::uint64_t fences = fenced ? transfer.fence_epoch : 0;
    if (issued.fences != fences || issued.quiets != quiets) issued = {fences, quiets, 0};
    if (transfer.payload == nullptr) ++issued.chains;  // else it follows what was issued just now
    name = {agent, transfer.target(), fenced, issued.chains};
  }
  const auto [found, added] = state.actors.try_emplace(name, state.priorities.size());
  if (added) state.priorities.push_back(1 + static_cast<std::int64_t>(state.random() >> 2));
  return found->second;
}

void Pct::listed(Event& event) {
  State& state = *state_;
  event.actor = actor_of(event);
  const bool yields = event.agent != nullptr && lets_others_on(*event.agent);
  if (yields) state.priorities[event.actor] = --state.lowest;
  event.priority = state.priorities[event.actor];
}

// Of a chain one event at most may come next; should two actors be equal, chance decides.
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

void Pct::lower(std::vector<Event>& events, std::size_t actor, std::int64_t priority) {
  state_->priorities[actor] = priority;
  for (Event& event : events) {
    if (event.actor == actor) event.priority = priority;
  }
}

std::size_t Pct::event(Engine& engine, std::vector<Event>& events) {
  State& state = *state_;
  ++state.step;
  std::size_t chosen = highest(engine, events);
  while (state.next_change < state.changes.size() &&
         state.step >= state.changes[state.next_change].first) {
    lower(events, events[chosen].actor, state.changes[state.next_change++].second);
    chosen = highest(engine, events);
  }
  const bool too_long = state.step > state.steps && state.step % late_turn_steps == 0;
  if ((too_long || engine.fruitless_steps() >= poller_patience) &&
      events[chosen].agent != nullptr) {
    lower(events, events[chosen].actor, --state.lowest);
    chosen = highest(engine, events);
  }
  return chosen;
}

std::uint32_t Pct::delivery(bool unread, std::uint32_t granules) {
  return state_->details->delivery(unread, granules);
}
std::uint32_t Pct::answer(std::uint32_t n) { return state_->details->answer(n); }

}  // namespace sym::check
