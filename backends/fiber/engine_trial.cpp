// What would become of a run that has come to a stand if nothing had to wait for a turn: blocks for
// a place, launches for those before them on their streams. It tells a hang that hangs on the order
// of launches, or on places, from one that does not, by what the kernels do and not by guesses.
#include <algorithm>
#include <deque>
#include <utility>

#include "backends/fiber/deadlock.hpp"

namespace sym::fiber {

namespace {

// In turn, each transfer when it is issued. Hosts stay where they are: what they do is the
// program's and cannot be taken back.
class Turns : public Policy {
 public:
  explicit Turns(Trial& trial) : trial_(trial) {}
  void ready(Engine&, Agent& agent) override {
    if (agent.block >= 0) queue_.push_back(&agent);
  }
  void woken(Engine& engine, Agent& agent) override {
    if (!trial_.released.contains(&agent)) trial_.freed.insert(&agent);
    ready(engine, agent);
  }
  void issued(Engine& engine, Transfer& transfer) override { engine.deliver(transfer); }
  bool next(Engine& engine) override {
    if (queue_.empty()) return false;
    Agent* const agent = queue_.front();
    queue_.pop_front();
    engine.resume(*agent);
    return true;
  }

 private:
  Trial& trial_;
  std::deque<Agent*> queue_;
};

}  // namespace

// The next launch of a stream begins beside what runs there, as if on a stream of its own.
void Engine::release_launch(int pe, int stream, Trial& trial) {
  auto& streams = streams_[static_cast<std::size_t>(pe)];
  auto& queue = streams[stream].queue;
  const int own = std::max(streams.rbegin()->first, 1 << 29) + 1;
  Trial::Released how;
  for (const Agent* agent : agents_of_[static_cast<std::size_t>(pe)]) {
    if (agent->block < 0 || agent->stream != stream || !runs(*agent)) continue;
    how.ahead.push_back(agent);
    if (agent->step.verb == Verb::after) how.mark = agent->host_reason;
  }
  Stream& alone = streams[own];
  alone.queue.push_back(std::move(queue[1]));
  queue.erase(queue.begin() + 1);
  alone.history = &make_agent(pe, own, -2);
  const std::size_t before = agents_.size();
  start_next_launch(pe, own);
  for (std::size_t i = before; i < agents_.size(); ++i) trial.released[agents_[i].get()] = how;
}

// What waits for a place, and the next launch of each stream. False: there is none.
bool Engine::release_next(Trial& trial) {
  constexpr std::size_t most = 4096;
  bool some = false;
  for (int pe = 0; pe < options_.pes; ++pe) {
    Places& places = places_[static_cast<std::size_t>(pe)];
    std::vector<const Agent*> placed;
    for (const Agent* agent : agents_of_[static_cast<std::size_t>(pe)]) {
      if (agent->placed && runs(*agent)) placed.push_back(agent);
    }
    for (const auto& blocks : std::exchange(places.waiting, {})) {
      for (Agent* agent : blocks) {
        trial.released[agent] = {true, placed};
        agent->state = Agent::State::ready;
        policy_->ready(*this, *agent);
        some = true;
      }
    }
    std::vector<int> queued;
    for (const auto& [number, stream] : streams_[static_cast<std::size_t>(pe)]) {
      if (stream.queue.size() > 1) queued.push_back(number);
    }
    for (const int stream : queued) {
      if (trial.released.size() >= most) {
        trial.conclusive = false;
        break;
      }
      release_launch(pe, stream, trial);
      some = true;
    }
  }
  return some;
}

Trial Engine::try_out_of_turn() {
  constexpr int most_rounds = 8;
  constexpr std::uint64_t most_steps = 200'000;
  Trial trial;
  Turns turns(trial);
  const Statistics statistics = statistics_;
  const EngineOptions options = options_;
  const std::uint64_t steps = steps_;
  const bool stopped = std::exchange(stopped_, false);
  Policy* const policy = std::exchange(policy_, &turns);
  Observer* const observer = std::exchange(observer_, nullptr);
  options_.tracer = nullptr;
  options_.count_sites = options_.find_livelocks = options_.piece_order = false;
  options_.resident_blocks = 0;
  std::size_t waiting = 0;
  for (const auto& agent : agents_) {
    if (agent->state == Agent::State::ready) turns.ready(*this, *agent);
    if (agent->state != Agent::State::idle && agent->block >= 0) ++waiting;
  }
  trying_ = true;
  for (int round = 0; round < most_rounds && trial.freed.size() < waiting; ++round) {
    if (stopped_ || !release_next(trial)) break;
    tried_ = true;
    changed();
    const std::uint64_t patience = 1000 + 64 * agents_.size();  // with those who poll
    while (!stopped_ && steps_ < steps + most_steps && fruitless_steps() < patience &&
           turns.next(*this)) {
      ++steps_;
    }
  }
  trial.conclusive = trial.conclusive && !stopped_ && steps_ < steps + most_steps;
  trying_ = false;
  policy_ = policy;
  observer_ = observer;
  options_ = options;
  statistics_ = statistics;
  steps_ = steps;
  stopped_ = stopped;
  error_ = nullptr;
  incomplete_ = false;
  not_reached_.clear();
  return trial;
}

}  // namespace sym::fiber
