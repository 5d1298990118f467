// Decisions: schedules that choose. They are one Policy, which knows what can happen next, and a
// Chooser, which says what does. The policy logs every choice among several, so that a run can be
// taken again, whoever chose first.
//
// What can happen next is listed oldest first: agents by when they came to where they stand,
// transfers by when they were issued. A decision is
//   an event     its place in that list; a transfer that may not be delivered yet stands for the
//                next one in the list, cyclically, that may;
//   a delivery   of a payload: 0 the rest of it, 1 its source is read now and no more, 2 + u its
//                next u + 1 granules of 8 bytes;
//   an answer    to a Question of the engine.
// Always choosing 0 is a fair schedule: the oldest event first, whole.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backends/fiber/engine.hpp"

namespace sym::check {

struct Event {
  fiber::Agent* agent = nullptr;  // either it resumes
  fiber::Transfer* transfer = nullptr;
  // The chooser's business.
  std::size_t actor = 0;
  std::int64_t priority = 0;
};

class Chooser {
 public:
  virtual ~Chooser() = default;
  virtual void listed(Event&) {}
  // The place in the list of what happens next. There are several.
  virtual std::size_t event(fiber::Engine& engine, std::vector<Event>& events) = 0;
  // How much of a payload is delivered: its source may be read before (if `unread`), and so may up
  // to `granules` of it.
  virtual std::uint32_t delivery(bool unread, std::uint32_t granules) = 0;
  virtual std::uint32_t answer(std::uint32_t n) = 0;
  // What is wrong with the choices that it follows, if something is; at the end of the run, also
  // that some are left.
  virtual std::string complaint(bool /*ended*/) const { return ""; }
};

class Choices : public fiber::Policy {
 public:
  explicit Choices(std::unique_ptr<Chooser> chooser) : chooser_(std::move(chooser)) {}
  void ready(fiber::Engine& engine, fiber::Agent& agent) override;
  void woken(fiber::Engine& engine, fiber::Agent& agent) override { ready(engine, agent); }
  void issued(fiber::Engine& engine, fiber::Transfer& transfer) override;
  bool next(fiber::Engine& engine) override;
  std::uint32_t answer(fiber::Engine& engine, fiber::Question question, int pe,
                       std::uint32_t n) override;

  Chooser& chooser() { return *chooser_; }
  // What was chosen, in order. Empty for a run of more than `most_logged` decisions, which its seed
  // alone repeats.
  const std::vector<std::uint32_t>& log() const { return log_; }
  static constexpr std::size_t most_logged = std::size_t{1} << 24;

 private:
  std::uint32_t log(std::uint32_t decision);
  bool act(fiber::Engine& engine, std::size_t at);
  bool refused(fiber::Engine& engine);

  std::unique_ptr<Chooser> chooser_;
  std::vector<Event> events_;
  std::vector<std::uint32_t> log_;
  bool logging_ = true;
};

// Any event, each with equal chance; payloads whole, read early, or in parts.
std::unique_ptr<Chooser> choose_at_random(std::uint64_t seed);
// The oldest event, whole.
std::unique_ptr<Chooser> choose_oldest();
// Decisions of an earlier run. What comes after the last one, or is out of range: `exact`, a
// complaint, because the run is not that of the decisions; else the choice is 0.
std::unique_ptr<Chooser> choose_as(std::vector<std::uint32_t> decisions, bool exact);

// PCT: Burckhardt, Kothari, Musuvathi, Nagarakatte, "A Randomized Scheduler with Probabilistic
// Guarantees of Finding Bugs" (ASPLOS 2010). Actors have random priorities and the highest one goes
// on; at depth - 1 random steps of `steps` it falls below all others. A bug of that depth is found
// with a probability of at least 1 / (n k^(depth - 1)), for n actors and k steps.
// Actors are agents, and chains of transfers: of those from an agent to a PE that no fence orders
// each is a chain of its own, which goes on with those behind the next fence or quiet; a put_signal
// is in one chain. About parts of a payload chance decides, and that is not in the bound.
// Who polls in vain falls below all others, or nobody else would go on: a yield. So does, in a run
// that is longer than `steps`, who goes on for long.
class Pct : public Chooser {
 public:
  Pct(std::uint64_t seed, int depth, std::uint64_t steps);
  ~Pct() override;
  void listed(Event& event) override;
  std::size_t event(fiber::Engine& engine, std::vector<Event>& events) override;
  std::uint32_t delivery(bool unread, std::uint32_t granules) override;
  std::uint32_t answer(std::uint32_t n) override;
  std::size_t actors() const;  // seen so far

 private:
  struct State;
  std::size_t actor_of(const Event& event);
  std::size_t highest(fiber::Engine& engine, const std::vector<Event>& events);
  void lower(std::vector<Event>& events, std::size_t actor, std::int64_t priority);
  std::unique_ptr<State> state_;
};

}  // namespace sym::check
