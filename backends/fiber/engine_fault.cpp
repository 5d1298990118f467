// What the engine says of a kernel that faults, throws, never yields, or polls for ever.
#include <algorithm>
#include <csignal>
#include <sstream>
#include <unordered_map>
#include <utility>

#include "backends/fiber/deadlock.hpp"
#include "backends/fiber/engine.hpp"

namespace sym::fiber {

namespace {

struct Named {
  const char* kind;
  std::string headline;
  const char* why;
  const char* fix;
};

Finding finding_of(const Named& named, Place place, const std::string& after) {
  Finding finding;
  finding.kind = named.kind;
  finding.text = named.headline + "\n  after  " + after + "\n  why    " + named.why +
                 "\n  fix    " + named.fix;
  finding.why = named.why;
  finding.fix = named.fix;
  finding.places.push_back(std::move(place));
  return finding;
}

std::string in_seconds(double seconds) {
  std::ostringstream text;
  text << seconds;
  return text.str();
}

Named arithmetic() {
  return {"arithmetic",
          "ARITHMETIC a division by zero, or an instruction that is none (SIGFPE, SIGILL)",
          "what ran after this verb divided by zero, overflowed a division, or ran into a trap",
          "check the divisor, and what the compiler calls unreachable"};
}

}  // namespace

void Engine::report_exception(const Agent& agent, const std::string& what) {
  stop(finding_of({"exception", "EXCEPTION " + what,
                   "an exception left the program; on a GPU it would be no exception but a fault",
                   "let the kernel end by return, and refuse bad input with require()"},
                  place_of(agent, "last verb"), describe(agent)));
}

Finding Engine::exit_finding() const {
  return finding_of({"exit", "EXIT the program called exit or quick_exit in the middle of a run",
                     "the process ends here, and nothing is known of the rest",
                     "let kernels and host programs end by return"},
                    place_of(*current_, "last verb"), describe(*current_));
}

// What lies around an allocation belongs to nobody; who writes it reached it by a raw pointer.
void Engine::check_memory(int pe) {
  const std::optional<Overrun> found = memory_.overrun(pe);
  if (!found) return;
  const Agent& agent = current_ != nullptr ? *current_ : *hosts_[static_cast<std::size_t>(pe)];
  const std::string byte = "byte " + std::to_string(found->distance);
  stop(finding_of({"overrun",
                   "OVERRUN  " + byte + (found->before ? " before " : " behind the end of ") +
                       found->name + " of PE " + std::to_string(pe) + " has been written",
                   "no verb does that: a raw pointer (escape, a captured pointer, the host's) has "
                   "left its allocation, since the launch before this one",
                   "reach memory by verbs, which check bounds"},
                  place_of(agent, "seen"), describe(agent)));
}

void Engine::check_memory() {
  const std::size_t before = findings_.size();
  for (int pe = 0; pe < options_.pes && findings_.size() == before; ++pe) check_memory(pe);
}

void Engine::report_fault(const Agent& faulty, int signal) {
  Agent& agent = *agents_[static_cast<std::size_t>(faulty.id)];
  const bool host = agent.block < 0;
  const std::size_t stack = host || agent.queue >= 0 ? host_stacks_.bytes() : stacks_.bytes();
  const bool overflow = stacks_.guards(guard_->address()) ||
                        host_stacks_.guards(guard_->address()) ||
                        !agent.fiber->holds(guard_->stack_pointer());
  Named named = arithmetic();
  if (signal == FaultGuard::too_long || signal == FaultGuard::asleep) {
    if (over_time()) {
      used_up(false);
      agent.state = Agent::State::idle;
      return;
    }
    const bool computes = signal == FaultGuard::too_long;
    const int times = computes ? 1 : FaultGuard::asleep_stretches;
    named = {"no-yield",
             "NEVER YIELDS " + in_seconds(options_.verb_seconds * times * stretches_of(agent)) +
                 " s of " + (computes ? "computing" : "waiting outside of the library") +
                 " without a verb",
             "nothing else can run until it comes to one: a loop that waits for memory to change "
             "by plain reads never ends",
             host ? "let the host wait with synchronize, or in a collective call"
                  : "wait with wait_until, or poll with test"};
  } else if (signal == SIGABRT) {
    named = {"abort", "ABORT the program called abort, or an assertion failed (SIGABRT)",
             "what ran after this verb gave up", "the assertion's own text is on stderr"};
  } else if ((signal == SIGSEGV || signal == SIGBUS) && overflow) {
    named = {"stack-overflow",
             "STACK OVERFLOW more than the " + std::to_string(stack / 1024) +
                 " KiB of stack that " + (host ? "a host program" : "a block") + " has",
             "large local arrays, or a recursion without end",
             "keep large arrays in Scratch or in a window"};
  } else if (signal == SIGSEGV || signal == SIGBUS) {
    named = {"bad-pointer",
             "BAD POINTER memory that is not there, or not to be written (" +
                 std::string(signal == SIGBUS ? "SIGBUS)" : "SIGSEGV)"),
             "a raw pointer leads outside of every allocation",
             "reach memory by verbs, which check bounds, and not by escape() or captured pointers"};
  }
  agent.state = Agent::State::idle;
  stop(finding_of(named, place_of(agent, "last verb"), describe(agent)));
}

// --- polling for ever
// ------------------------------------------------------------------------------ While nothing
// changes and nothing is in flight, an agent goes on as its own stack says; so one that has the
// same stack twice goes round for ever, and once all who can run do, so does the run. What is exact
// about this ends where a kernel counts its rounds in memory that is no agent's stack and no
// window; hence a thousand rounds are asked for and not one.

struct Engine::Polling {
  struct Seen {
    std::uint64_t fingerprint = 0;
    std::uint64_t times = 0, renew_at = 1, repeats = 0;
  };
  std::uint64_t since = 0;  // the last change
  std::unordered_map<int, Seen> agents;
};

void Engine::check_livelock(const Agent& agent) {
  constexpr std::uint64_t patience = 10'000;
  constexpr std::uint64_t rounds = 1'000;
  if (fruitless_steps() < patience || transfers_under_way() || stopped_) return;
  if (polling_ == nullptr || polling_->since != last_change_) {
    polling_ = std::make_shared<Polling>();
    polling_->since = last_change_;
  }
  Polling::Seen& seen = polling_->agents[agent.id];
  const std::uint64_t now = agent.fiber->fingerprint();
  if (seen.times > 0 && now == seen.fingerprint) ++seen.repeats;
  if (++seen.times == seen.renew_at) {
    if (now != seen.fingerprint) seen = {now, seen.times, 2 * seen.times, 0};
    seen.renew_at = 2 * seen.times;
  }
  if (seen.repeats != rounds) return;
  const bool all = std::all_of(agents_.begin(), agents_.end(), [&](const auto& other) {
    if (other->state != Agent::State::ready) return true;
    const auto found = polling_->agents.find(other->id);
    return found != polling_->agents.end() && found->second.repeats >= rounds;
  });
  if (all) report_livelock();
}

void Engine::report_livelock() {
  Deadlock deadlock(*this);
  check_memory();  // before a trial writes
  stop(deadlock.finding(try_out_of_turn()));
}

}  // namespace sym::fiber
