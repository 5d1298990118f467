#include "backends/fiber/engine.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <sstream>
#include <utility>

#include "backends/fiber/deadlock.hpp"
#include "backends/fiber/sites.hpp"
#include "backends/fiber/tracer.hpp"
#include "core/error.hpp"

namespace sym::fiber {

namespace {
thread_local Engine* running = nullptr;  // whose events happen on this thread

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
std::string in_text(double number) {
  std::ostringstream text;
  text << number;
  return text.str();
}
}  // namespace

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
                                          "receive_packets",
                                          "read",
                                          "tally",
                                          "scan",
                                          "weighted_sum",
                                          "warps",
                                          "require",
                                          "reduce_slots",
                                          "put",
                                          "get",
                                          "gemm",
                                          "post",
                                          "take",
                                          "record",
                                          "after",
                                          "reduce_packets",
                                          "transform_by_sum",
                                          "transform_by_sum",
                                          "transform_by_sum",
                                          "multicast_put",
                                          "multicast_reduce",
                                          "multicast_all_reduce",
                                          "World::team",
                                          "World::allocate",
                                          "World::allocate_control",
                                          "World::free",
                                          "World::local",
                                          "World::channel",
                                          "World::write",
                                          "World::read",
                                          "World::launch",
                                          "World::queue",
                                          "World::posts",
                                          "World::synchronize",
                                          "World::barrier",
                                          "World::begin_capture",
                                          "World::end_capture",
                                          "World::replay",
                                          "World::recover",
                                          "World::mark_us",
                                          "Queue::put",
                                          "Queue::get",
                                          "Queue::launch",
                                          "Queue::gemm",
                                          "Queue::prepare",
                                          "Queue::post",
                                          "Queue::take",
                                          "Queue::record",
                                          "Queue::after"};
  return names[static_cast<int>(verb)];
}

Engine::Engine(EngineOptions options, Policy& policy, Observer* observer)
    : options_(options),
      policy_(&policy),
      observer_(observer),
      memory_(options.pes, options.payload_storage, options.catch_faults),
      stacks_(options.stack_bytes, options.guard_stacks),
      host_stacks_(options.host_stack_bytes, options.guard_stacks),
      streams_(static_cast<std::size_t>(options.pes)),
      launches_begun_(static_cast<std::size_t>(options.pes), 0),
      outstanding_(static_cast<std::size_t>(options.pes), 0),
      agents_of_(static_cast<std::size_t>(options.pes)),
      words_(static_cast<std::size_t>(options.pes)),
      messages_(static_cast<std::size_t>(options.pes)),
      places_(static_cast<std::size_t>(options.pes)) {
  barrier_.what.resize(static_cast<std::size_t>(options.pes));
}

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
  if (options_.tracer != nullptr) options_.tracer->begin();
  if (options_.mutation != nullptr) options_.mutation->begin();
  barrier_.meeting = &make_agent(-1, 0, -1);
  for (int pe = 0; pe < options_.pes; ++pe) {
    Agent& host = make_agent(pe, 0, -1);
    host.fiber = std::make_unique<Fiber>(host_stacks_);
    hosts_.push_back(&host);
    host.fiber->start([this, &host, &program] { run_body(host, [&] { program(host.pe); }); });
    host.state = Agent::State::ready;
    policy_->ready(*this, host);
  }
  events();
  if (!stopped_ && !error_ && !stuck()) report_open_claims();
  if (!tried_) check_memory();
  report_not_kept();
  if (error_) std::rethrow_exception(error_);
}

Engine::~Engine() = default;

void Engine::events() {
  static const bool told = std::atexit(&exited) == 0 && std::at_quick_exit(&exited) == 0;
  (void)told;
  const struct Running {
    explicit Running(Engine* engine) : outer(std::exchange(running, engine)) {}
    ~Running() { running = outer; }  // also when a policy throws
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;
    Engine* outer;
  } this_one(this);
  began_s_ = seconds_now();
  // Who never comes to a verb is to be stopped in time, too.
  const bool limited = options_.most_seconds > 0 && (options_.verb_seconds <= 0 ||
                                                     options_.most_seconds < options_.verb_seconds);
  const double stretch_s = limited ? options_.most_seconds : options_.verb_seconds;
  if (options_.catch_faults) guard_ = std::make_unique<FaultGuard>(stretch_s);
  while (!stopped_) {
    ++steps_;
    if (!policy_->next(*this)) break;
    check_budget();
  }
  if (!stopped_ && stuck()) report_deadlock();
  guard_.reset();
}

// Whether somebody has not come to an end.
bool Engine::stuck() const {
  return std::any_of(agents_.begin(), agents_.end(),
                     [](const auto& agent) { return agent->state != Agent::State::idle; });
}

void Engine::report_deadlock() {
  Deadlock deadlock(*this);
  check_memory();  // before a trial writes
  keep(deadlock.finding(try_out_of_turn()), true);
}

// For how many of the guard's stretches it may go on without a verb. Operations of queues come to
// an end.
int Engine::stretches_of(const Agent& agent) const {
  if (agent.queue >= 0) return 0;
  if (agent.block >= 0 || options_.verb_seconds <= 0) return 1;
  if (options_.most_seconds <= 0) return EngineOptions::host_stretches;
  const double stretches = std::ceil(options_.most_seconds / options_.verb_seconds);
  return static_cast<int>(std::clamp<double>(stretches, 1, EngineOptions::host_stretches));
}

bool Engine::over_time() const {
  return options_.most_seconds > 0 && seconds_now() - began_s_ >= options_.most_seconds;
}

void Engine::check_budget() {
  constexpr std::uint64_t steps_a_look = 256;
  const bool too_many = options_.most_steps > 0 && steps_ >= options_.most_steps;
  const bool too_long = steps_ % steps_a_look == 0 && over_time();
  if (!stopped_ && (too_many || too_long)) used_up(too_many);
}

// A budget that is used up says who was where: nothing is known of what they would have done.
void Engine::used_up(bool steps) {
  std::string lines;
  std::size_t left = 0;
  constexpr std::size_t most = 12;
  for (const auto& agent : agents_) {
    if (agent->state == Agent::State::idle) continue;
    if (++left <= most) lines += "\n  " + describe(*agent);
  }
  if (left == 0) return;  // everybody had ended
  incomplete_ = stopped_ = true;
  not_reached_ = "INCOMPLETE the budget of " +
                 (steps ? std::to_string(options_.most_steps) + " steps"
                        : in_text(options_.most_seconds) + " s") +
                 " is used up; " + std::to_string(left) + " agents had not ended:" + lines;
  if (left > most) not_reached_ += "\n  ... and " + std::to_string(left - most) + " more";
}

// The body of a fibre: nothing may leave it. A Failure of a block is a finding with its place, made
// here unless a verb has made it, and so is whatever else a kernel throws; what a host program
// throws belongs to the caller of run().
void Engine::run_body(Agent& agent, const std::function<void()>& body) {
  try {
    body();
  } catch (const Failure& failure) {
    if (agent.block >= 0) {
      if (!stopped_) stop(error_finding(agent, failure.what()));
    } else {
      error_ = std::current_exception();
      stopped_ = true;
    }
  } catch (const std::exception& thrown) {
    if (agent.block >= 0 && agent.queue < 0) {
      report_exception(agent, thrown.what());
    } else {
      error_ = std::current_exception();
      stopped_ = true;
    }
  } catch (...) {
    report_exception(agent, "something that is no std::exception");
  }
  changed();
  agent.state = Agent::State::idle;
  agent.launch_name = agent.block >= 0 ? agent.launch_name : "host, ended";
  if (agent.block < 0) give_places(agent.pe);
}

void Engine::resume(Agent& agent) {
  ++statistics_.switches;
  Agent* outer = current_;
  current_ = &agent;
  agent.state = Agent::State::running;
  if (guard_ == nullptr) {
    agent.fiber->resume();
  } else if (const int signal = guard_->resume(*agent.fiber, stretches_of(agent))) {
    report_fault(agent, signal);
  }
  end_writes();
  current_ = outer;
  if (options_.find_livelocks && agent.state == Agent::State::ready) check_livelock(agent);
  if (free_stream_) {
    const auto [pe, stream] = *std::exchange(free_stream_, std::nullopt);
    start_next_launch(pe, stream);
  }
}

void Engine::pass(const Step& step) {
  stay_if_stopped();
  current_->step = step;
  current_->step.site.file = in_tree(step.site.file);
  if (guard_ != nullptr) guard_->mark();
  const bool again = goes_on(step.verb) || (current_->queue >= 0 && step.verb == Verb::quiet);
  if (options_.count_sites && !again) count_site(statistics_, current_->step);
}

void Engine::stay_if_stopped() {
  while (stopped_) current_->fiber->suspend();
}

void Engine::step(const Step& step) {
  Agent& agent = *current_;
  pass(step);
  agent.state = Agent::State::ready;
  policy_->ready(*this, agent);
  agent.fiber->suspend();
  if (options_.tracer != nullptr) options_.tracer->verb(agent);
}

void Engine::block_until_woken(Agent& agent) {
  agent.state = Agent::State::blocked;
  if (agent.block < 0) give_places(agent.pe);
  agent.fiber->suspend();
  if (options_.tracer != nullptr) options_.tracer->woken(agent);
}

// At the end of a wait: goes on at once unless it must wait, or the policy wants to choose when.
void Engine::block_while(Agent& agent, bool must_wait) {
  if (must_wait) {
    block_until_woken(agent);
  } else if (policy_->waits_are_events()) {
    wake(agent);
    agent.fiber->suspend();
  }
}

void Engine::wake(Agent& agent) {
  changed();
  agent.state = Agent::State::ready;
  policy_->woken(*this, agent);
}

void Engine::access(const Bytes& bytes, bool write, bool atomic) {
  if (write) {
    if (!atomic) changed();  // an atomic may write what was there, and its verb knows
    if (holds_words(bytes.space) || notes_writes(bytes.space, current_->block < 0))
      begin_write(bytes, atomic);
  }
  if (observer_ != nullptr && bytes.size != 0) observer_->access(*current_, bytes, write, atomic);
}

void Engine::synced() {
  const bool hidden = current_->block >= 0 && hides(Change::no_sync);
  if (observer_ == nullptr) return;
  if (hidden) {
    observer_->parted(*current_);
  } else {
    observer_->synced(*current_);
  }
}

void Engine::will_sync() {
  const bool hidden = current_->block >= 0 && hides(Change::no_sync);
  if (observer_ != nullptr && hidden) observer_->parted(*current_);
}

bool Engine::hides(Change edge) const {
  const Step& step = current_->step;
  return options_.mutation != nullptr && step.site.line != 0 &&
         options_.mutation->hides(step.verb, step.site, edge);
}

void Engine::exited() {
  if (running == nullptr) return;
  std::string text;
  for (const Finding& finding : running->findings_) text += finding.text + "\n";
  text += running->exit_finding().text + "\n";
  std::fflush(nullptr);
  std::fputs(text.c_str(), stderr);
  std::_Exit(1);
}

void Engine::report(Finding finding) { keep(std::move(finding), false); }

void Engine::keep(Finding finding, bool always) {
  if (trying_) {
    stopped_ = true;
    return;
  }
  if (options_.tracer != nullptr) options_.tracer->reported(finding);
  finding.ended_run = always;
  if (always || findings_.size() < most_findings) {
    findings_.push_back(std::move(finding));
  } else {
    ++not_kept_;
  }
  if (options_.stop_at_first) stopped_ = true;
}

// The last finding says how many there are besides.
void Engine::report_not_kept() {
  if (not_kept_ > 0) findings_.push_back(not_kept(std::exchange(not_kept_, 0)));
}

void Engine::stop(Finding finding) {
  if (finding.places.empty() && current_ != nullptr)
    finding.places.push_back(place_of(*current_, "at"));
  keep(std::move(finding), true);
  stopped_ = true;
}

}  // namespace sym::fiber
