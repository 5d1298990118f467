#include "backends/fiber/engine.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "core/error.hpp"

namespace sym::fiber {

const char* to_string(Verb verb) {
  static constexpr const char* names[] = {"host",
                                          "start",
                                          "put",
                                          "get",
                                          "put_signal",
                                          "put_value",
                                          "signal",
                                          "wait_until",
                                          "test",
                                          "fence",
                                          "quiet",
                                          "sync",
                                          "reduce",
                                          "transform",
                                          "sum",
                                          "max",
                                          "fetch_add",
                                          "enter",
                                          "leave",
                                          "put_packets",
                                          "receive_packets",
                                          "reduce_packets",
                                          "read",
                                          "tally",
                                          "scan",
                                          "weighted_sum",
                                          "warps",
                                          "require",
                                          "copy",
                                          "gemm",
                                          "post",
                                          "take",
                                          "record",
                                          "after"};
  return names[static_cast<int>(verb)];
}

struct Engine::Launch {
  Work work;
  std::shared_ptr<const Note> host;  // what the host had done when it launched
  int remaining = 0;
};

Engine::Engine(EngineOptions options, Policy& policy, Observer* observer)
    : options_(options),
      policy_(policy),
      observer_(observer),
      memory_(options.pes, options.payload_storage),
      stacks_(options.stack_bytes, options.guard_stacks),
      host_stacks_(options.host_stack_bytes, options.guard_stacks),
      streams_(static_cast<std::size_t>(options.pes)),
      launches_begun_(static_cast<std::size_t>(options.pes), 0),
      outstanding_(static_cast<std::size_t>(options.pes), 0),
      agents_of_(static_cast<std::size_t>(options.pes)),
      words_(static_cast<std::size_t>(options.pes)) {
  barrier_.what.resize(static_cast<std::size_t>(options.pes));
}

Engine::~Engine() = default;

Agent& Engine::make_agent(int pe, int stream, int block) {
  agents_.push_back(std::make_unique<Agent>());
  Agent& agent = *agents_.back();
  agent.id = static_cast<int>(agents_.size()) - 1;
  agent.pe = pe;
  agent.stream = stream;
  agent.block = block;
  if (pe >= 0) agents_of_[static_cast<std::size_t>(pe)].push_back(&agent);
  if (observer_ != nullptr) observer_->agent_made(agent);
  return agent;
}

void Engine::run(const std::function<void(int pe)>& program) {
  barrier_.meeting = &make_agent(-1, 0, -1);
  for (int pe = 0; pe < options_.pes; ++pe) {
    Agent& host = make_agent(pe, 0, -1);
    host.fiber = std::make_unique<Fiber>(host_stacks_);
    hosts_.push_back(&host);
    host.fiber->start([this, &host, &program] { run_body(host, [&] { program(host.pe); }); });
    host.state = Agent::State::ready;
    policy_.ready(*this, host);
  }
  while (!stopped_ && policy_.next(*this)) {
  }
  if (error_) std::rethrow_exception(error_);
  const bool stuck = std::any_of(agents_.begin(), agents_.end(), [](const auto& agent) {
    return agent->state != Agent::State::idle;
  });
  if (stuck && !stopped_) explain_deadlock();
}

// The body of a fibre: nothing may leave it. A Failure of a block is a finding with its place; any
// other exception belongs to the caller of run().
void Engine::run_body(Agent& agent, const std::function<void()>& body) {
  try {
    body();
  } catch (const Failure& failure) {
    if (agent.block >= 0) {
      stop({"error", std::string("ERROR ") + failure.what() + "\n  at     " + describe(agent)});
    } else {
      error_ = std::current_exception();
      stopped_ = true;
    }
  } catch (...) {
    error_ = std::current_exception();
    stopped_ = true;
  }
  agent.state = Agent::State::idle;
  agent.launch_name = agent.block >= 0 ? agent.launch_name : "host, ended";
}

void Engine::resume(Agent& agent) {
  ++statistics_.switches;
  Agent* outer = current_;
  current_ = &agent;
  agent.state = Agent::State::running;
  agent.fiber->resume();
  current_ = outer;
  if (free_stream_) {
    const auto [pe, stream] = *std::exchange(free_stream_, std::nullopt);
    start_next_launch(pe, stream);
  }
}

void Engine::pass(const Step& step) {
  current_->step = step;
  if (options_.count_sites && step.site.line != 0) {
    std::string file = step.site.file;
    ++statistics_.sites[{file + ":" + std::to_string(step.site.line), to_string(step.verb)}];
  }
}

void Engine::step(const Step& step) {
  Agent& agent = *current_;
  pass(step);
  agent.state = Agent::State::ready;
  policy_.ready(*this, agent);
  agent.fiber->suspend();
}

void Engine::block_until_woken(Agent& agent) {
  agent.state = Agent::State::blocked;
  agent.fiber->suspend();
}

void Engine::wake(Agent& agent) {
  agent.state = Agent::State::ready;
  policy_.woken(*this, agent);
}

void Engine::access(const Bytes& bytes, bool write, bool atomic) {
  if (observer_ != nullptr && bytes.size != 0) observer_->access(*current_, bytes, write, atomic);
}

void Engine::synced() {
  if (observer_ != nullptr) observer_->synced(*current_);
}

void Engine::report(Finding finding) {
  constexpr std::size_t most = 50;
  if (findings_.size() < most) findings_.push_back(std::move(finding));
}

void Engine::stop(Finding finding) {
  report(std::move(finding));
  stopped_ = true;
}

// --- launches ----------------------------------------------------------------------------------

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
  for (int block = 0; block < work.blocks; ++block) {
    Agent& agent = agent_of(queue, work, pe, block);
    agent.blocks = work.blocks;
    agent.weight = work.weight;
    agent.scratch_bytes = work.scratch_bytes;
    agent.launch = number;
    agent.launch_name = work.name;
    agent.step = work.step;
    if (observer_ != nullptr) {
      observer_->acquire(agent, history);
      observer_->acquire(agent, launch.host);
      observer_->synced(agent);
    }
    agent.fiber->start([this, &agent, &launch, pe, stream] {
      run_body(agent, [&] { launch.work.body(agent); });
      block_ended(agent, pe, stream);
    });
    agent.state = Agent::State::ready;
    policy_.ready(*this, agent);
  }
}

void Engine::block_ended(Agent& agent, int pe, int stream) {
  Stream& queue = streams_[static_cast<std::size_t>(pe)][stream];
  if (observer_ != nullptr) observer_->acquire(*queue.history, observer_->release(agent));
  if (--queue.queue.front()->remaining > 0) return;
  queue.queue.pop_front();
  // The next launch reuses this fibre, which has not ended yet: resume() begins it.
  if (!queue.queue.empty() && !stopped_) free_stream_ = {pe, stream};
  check_host(pe);
}

bool Engine::idle(int pe) const {
  for (const auto& [number, stream] : streams_[static_cast<std::size_t>(pe)]) {
    if (!stream.queue.empty()) return false;
  }
  return true;
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
  if (!done()) {
    host.host_ready = done;
    host.host_reason = "synchronize: its launches have not ended";
    block_until_woken(host);
  }
  if (observer_ == nullptr) return;
  for (auto& [number, queue] : streams) {
    const bool wanted = stream < 0 || number == stream;
    if (wanted && queue.history != nullptr)
      observer_->acquire(host, observer_->release(*queue.history));
  }
}

void Engine::host_barrier(Agent& host, const std::string& what, bool complete) {
  const auto pe = static_cast<std::size_t>(host.pe);
  if (complete) {
    synchronize(host, -1);
    if (outstanding_[pe] != 0) {
      host.host_ready = [this, pe] { return outstanding_[pe] == 0; };
      host.host_reason = what + ": waits for its transfers";
      block_until_woken(host);
    }
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
  if (++barrier_.arrived < options_.pes) {
    host.host_ready = [this, epoch] { return barrier_.epoch != epoch; };
    host.host_reason = what;
    block_until_woken(host);
  } else {
    for (int other = 0; other < options_.pes; ++other) {
      if (barrier_.what[static_cast<std::size_t>(other)] == what) continue;
      throw UsageError("PEs disagree: PE " + std::to_string(host.pe) + " calls " + what + ", PE " +
                       std::to_string(other) + " calls " +
                       barrier_.what[static_cast<std::size_t>(other)] +
                       "; collectives must be called in the same order with equal arguments");
    }
    ++barrier_.epoch;
    barrier_.arrived = 0;
    for (auto& text : barrier_.what) text.clear();
    for (int other = 0; other < options_.pes; ++other) check_host(other);
  }
  if (observer_ != nullptr) observer_->acquire(host, observer_->release(*barrier_.meeting));
}

}  // namespace sym::fiber
