// The engine's part in a PE's queues: flags that are posted and taken, and marks.
#include <utility>

#include "backends/fiber/engine.hpp"

namespace sym::fiber {

namespace {
// Of a flag of Posts: what is counted beside its word. A name each, and no memory.
enum class Count { posts, takes, waiters };
Bytes count_of(const WordId& id, Count count) {
  return Bytes{id.pe, id.space, id.index * sizeof(std::uint64_t) + static_cast<std::size_t>(count),
               1};
}
}  // namespace

// A flag that is not taken when the next post is issued can be lost. An observer decides whether it
// might not have been, whatever this run did; without one, a run that did it is stopped.
void Engine::post(const WordId& id) {
  Word& flag = word(id);
  control(count_of(id, Count::posts), true);
  if (flag.posts++ != flag.takes && observer_ == nullptr) {
    stop({"post", "POST the flag of slot " + std::to_string(id.slot) + " at PE " +
                      std::to_string(id.pe) + " has not been taken\n  at     " +
                      describe(*current_)});
  }
  signal(id, 1, false, false);
}

void Engine::take(const WordId& id) {
  Word& flag = word(id);
  control(count_of(id, Count::takes), false);
  control(count_of(id, Count::waiters), true);
  if (!flag.waiters.empty()) {
    stop({"take", "TAKE two wait for the flag of PE " + std::to_string(id.lane) + " of slot " +
                      std::to_string(id.slot) + "\n  at     " + describe(*current_) +
                      "\n  at     " + describe(*flag.waiters.front().agent)});
  }
  std::vector<Want> wants{{id, flag.takes + 1, 0, true}};
  wait(wants);
  control(count_of(id, Count::takes), true);
  ++flag.takes;
}

void Engine::record(Event& event) {
  if (observer_ != nullptr) event.note = observer_->release(*current_);
  event.done = true;
  for (Agent* waiter : std::exchange(event.waiters, {})) wake(*waiter);
}

void Engine::after(Event& event, const std::string& reason) {
  Agent& agent = *current_;
  if (!event.done) {
    event.waiters.push_back(&agent);
    agent.host_reason = reason;
  }
  block_while(agent, !event.done);
  if (observer_ != nullptr && !hides(Change::no_acquire)) observer_->acquire(agent, event.note);
}

}  // namespace sym::fiber
