// The engine's launches, the places that their blocks need, and the host program of a PE.
#include <algorithm>
#include <limits>
#include <numeric>
#include <random>
#include <utility>

#include "backends/fiber/engine.hpp"
#include "backends/fiber/sites.hpp"
#include "core/error.hpp"

namespace sym::fiber {

void Engine::launch(Agent& host, Work work) {
  const int stream = work.stream;
  auto launch = std::make_unique<Launch>();
  launch->work = std::move(work);
  if (observer_ != nullptr) launch->host = observer_->release(host);
  Stream& queue = streams_[static_cast<std::size_t>(host.pe)][stream];
  if (queue.history == nullptr) queue.history = &make_agent(host.pe, stream, -2);
  queue.queue.push_back(std::move(launch));
  if (queue.queue.size() == 1) start_next_launch(host.pe, stream);
}

// Operations have an agent of their own: they complete what they move, and no block's transfers.
Agent& Engine::agent_of(Stream& stream, const Work& work, int pe, int block) {
  const bool operation = work.queue >= 0;
  Agent*& agent = operation ? stream.worker : stream.blocks[block];
  if (agent == nullptr) {
    agent = &make_agent(pe, work.stream, block);
    agent->queue = work.queue;
    // What an operation calls is not ours, and may want more stack than a block.
    agent->fiber = std::make_unique<Fiber>(operation ? host_stacks_ : stacks_);
  }
  return *agent;
}

void Engine::start_next_launch(int pe, int stream) {
  Stream& queue = streams_[static_cast<std::size_t>(pe)][stream];
  Launch& launch = *queue.queue.front();
  const Work& work = launch.work;
  launch.remaining = work.blocks;
  int& number = launches_begun_[static_cast<std::size_t>(pe)];
  if (work.queue < 0) ++number;
  std::shared_ptr<const Note> history;
  if (observer_ != nullptr) history = observer_->release(*queue.history);
  std::deque<Agent*> blocks;
  for (int block = 0; block < work.blocks; ++block) {
    Agent& agent = agent_of(queue, work, pe, block);
    agent.blocks = work.blocks;
    agent.weight = work.weight;
    agent.early = work.early;
    agent.scratch_bytes = work.scratch_bytes;
    agent.launch = number;
    agent.launch_name = work.name;
    agent.step = work.step;
    agent.step.site.file = in_tree(work.step.site.file);
    if (options_.count_sites && work.queue >= 0) count_site(statistics_, agent.step);
    if (observer_ != nullptr) {
      observer_->acquire(agent, history);
      observer_->acquire(agent, launch.host);
      observer_->synced(agent);
    }
    agent.fiber->start([this, &agent, &launch, pe, stream] {
      run_body(agent, [&] { launch.work.body(agent); });
      block_ended(agent, pe, stream);
    });
    if (needs_place(work)) {
      agent.state = Agent::State::queued;
      blocks.push_back(&agent);
    } else {
      agent.state = Agent::State::ready;
      policy_->ready(*this, agent);
    }
  }
  if (!blocks.empty()) ask_places(pe, std::move(blocks));
}

// Kernels are on the GPU's processors, and so is a gemm; copies and flags are not.
bool Engine::needs_place(const Work& work) const {
  return options_.resident_blocks > 0 && (work.queue < 0 || work.step.verb == Verb::gemm);
}

// Launches get places in the order in which they begin, block by block, unless the policy knows a
// worse one: streams of a PE are unordered, so a launch may find that a later one of another stream
// has taken all.
void Engine::ask_places(int pe, std::deque<Agent*> blocks) {
  Places& places = places_[static_cast<std::size_t>(pe)];
  places.waiting.push_back(std::move(blocks));
  const bool host_runs = hosts_[static_cast<std::size_t>(pe)]->state == Agent::State::running;
  if (options_.launch_order && host_runs && !places.late) {
    places.late = policy_->answer(*this, Question::launch, pe, 2) == 1;
  }
  give_places(pe);
}

void Engine::give_places(int pe) {
  Places& places = places_[static_cast<std::size_t>(pe)];
  if (options_.resident_blocks > 0 && observer_ != nullptr) {
    observer_->control(*hosts_[static_cast<std::size_t>(pe)], Bytes{pe, Bytes::places_space, 0, 1},
                       true);
  }
  if (hosts_[static_cast<std::size_t>(pe)]->state != Agent::State::running) places.late = false;
  while (!places.late && !places.waiting.empty() && places.resident < options_.resident_blocks) {
    std::size_t chosen = 0;
    if (options_.launch_order && places.waiting.size() > 1) {
      const auto launches = static_cast<std::uint32_t>(places.waiting.size());
      chosen = policy_->answer(*this, Question::place, pe, launches);
    }
    std::deque<Agent*>& blocks = places.waiting[chosen];
    Agent& agent = *blocks.front();
    blocks.pop_front();
    if (blocks.empty())
      places.waiting.erase(places.waiting.begin() + static_cast<std::ptrdiff_t>(chosen));
    ++places.resident;
    agent.placed = true;
    agent.state = Agent::State::ready;
    changed();
    policy_->ready(*this, agent);
  }
}

std::vector<const Agent*> Engine::waiting_for_place(int pe) const {
  std::vector<const Agent*> all;
  for (const auto& blocks : places_[static_cast<std::size_t>(pe)].waiting) {
    all.insert(all.end(), blocks.begin(), blocks.end());
  }
  return all;
}

void Engine::block_ended(Agent& agent, int pe, int stream) {
  Stream& queue = streams_[static_cast<std::size_t>(pe)][stream];
  if (observer_ != nullptr) observer_->acquire(*queue.history, observer_->release(agent));
  if (std::exchange(agent.placed, false)) {
    --places_[static_cast<std::size_t>(pe)].resident;
    give_places(pe);
  }
  if (--queue.queue.front()->remaining > 0) return;
  if (agent.queue < 0 && !stopped_) check_memory(pe);
  queue.queue.pop_front();
  // The next launch reuses this fibre, which has not ended yet: resume() begins it.
  if (!queue.queue.empty() && !stopped_) free_stream_ = {pe, stream};
  check_host(pe);
}

std::vector<std::size_t> Engine::piece_order(std::size_t n) {
  std::vector<std::size_t> order;
  if (!options_.piece_order || n < 2) return order;
  const std::uint32_t how = policy_->answer(*this, Question::pieces, current_->pe,
                                            std::numeric_limits<std::uint32_t>::max());
  if (how == 0) return order;
  order.resize(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (how == 1) {
    std::reverse(order.begin(), order.end());
  } else {
    std::mt19937_64 random(how);  // std::shuffle differs between libraries
    for (std::size_t i = n - 1; i > 0; --i) std::swap(order[i], order[random() % (i + 1)]);
  }
  return order;
}

// --- hosts
// -----------------------------------------------------------------------------------------

bool Engine::idle(int pe) const {
  for (const auto& [number, stream] : streams_[static_cast<std::size_t>(pe)]) {
    if (!stream.queue.empty()) return false;
  }
  return true;
}

std::vector<std::string> Engine::queued_launches(int pe) const {
  std::vector<std::string> names;
  for (const auto& [number, stream] : streams_[static_cast<std::size_t>(pe)]) {
    for (std::size_t i = 1; i < stream.queue.size(); ++i) {
      if (stream.queue[i]->work.queue < 0) names.emplace_back(stream.queue[i]->work.name);
    }
  }
  return names;
}

void Engine::check_host(int pe) {
  Agent& host = *hosts_[static_cast<std::size_t>(pe)];
  if (host.state == Agent::State::blocked && host.host_ready && host.host_ready()) {
    host.host_ready = nullptr;
    wake(host);
  }
}

void Engine::synchronize(Agent& host, int stream) {
  auto& streams = streams_[static_cast<std::size_t>(host.pe)];
  const auto done = [this, &streams, &host, stream] {
    if (stream < 0) return idle(host.pe);
    const auto found = streams.find(stream);
    return found == streams.end() || found->second.queue.empty();
  };
  const bool wait = !done();
  if (wait) {
    host.host_ready = done;
    host.host_reason = "synchronize: its launches have not ended";
  }
  block_while(host, wait);
  if (observer_ == nullptr) return;
  for (auto& [number, queue] : streams) {
    const bool wanted = stream < 0 || number == stream;
    if (wanted && queue.history != nullptr)
      observer_->acquire(host, observer_->release(*queue.history));
  }
}

void Engine::host_access(Agent& host, std::size_t bytes) {
  host.step.bytes = bytes;
  if (!policy_->waits_are_events()) return;
  host.state = Agent::State::ready;
  policy_->ready(*this, host);
  host.fiber->suspend();
  host.step.bytes = 0;
}

void Engine::host_barrier(Agent& host, const std::string& what, bool complete) {
  const auto pe = static_cast<std::size_t>(host.pe);
  if (complete) {
    synchronize(host, -1);
    const bool wait = outstanding_[pe] != 0;
    if (wait) {
      host.host_ready = [this, pe] { return outstanding_[pe] == 0; };
      host.host_reason = what + ": waits for its transfers";
    }
    block_while(host, wait);
    if (observer_ != nullptr) {
      for (Agent* agent : agents_of_[pe]) {
        observer_->completed(*agent);
        if (agent != &host) observer_->acquire(host, observer_->release(*agent));
      }
    }
  }
  if (observer_ != nullptr) observer_->acquire(*barrier_.meeting, observer_->release(host));
  barrier_.what[pe] = what;
  const std::uint64_t epoch = barrier_.epoch;
  const bool wait = ++barrier_.arrived < options_.pes;
  if (wait) {
    host.host_ready = [this, epoch] { return barrier_.epoch != epoch; };
    host.host_reason = what;
  } else {
    for (int other = 0; other < options_.pes; ++other) {
      if (barrier_.what[static_cast<std::size_t>(other)] == what) continue;
      const Site there = hosts_[static_cast<std::size_t>(other)]->step.site;
      throw UsageError("PEs disagree: PE " + std::to_string(host.pe) + " calls " + what +
                       at(host.step.site) + ", PE " + std::to_string(other) + " calls " +
                       barrier_.what[static_cast<std::size_t>(other)] + at(there) +
                       "; collectives must be called in the same order with equal arguments");
    }
    ++barrier_.epoch;
    barrier_.arrived = 0;
    for (auto& text : barrier_.what) text.clear();
    if (complete && observer_ != nullptr) observer_->settled();
    // Others may go on to the next barrier before the last to be woken here looks.
    if (observer_ != nullptr) barrier_.note = observer_->release(*barrier_.meeting);
    for (int other = 0; other < options_.pes; ++other) check_host(other);
  }
  block_while(host, wait);
  if (observer_ != nullptr) observer_->acquire(host, barrier_.note);
}

}  // namespace sym::fiber
