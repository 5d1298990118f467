// Counting: what a wait for k of n signals acquires.
//
// The waiter learns how many signals have come, not which. So it acquires what *every* legal
// delivery would have given it: of each number of the clocks, the least over all sets of signals
// that may be there when the wait is satisfied. A set may be there if it has, with each signal,
// those that must come before it. For k of k that is everything; of a producer that fences between
// its signals, the first k; of unordered ones, what they have in common.
//
// The rule does not ask what this run delivered. It does ask for the signals that the run issued
// *after* the wait and that did not need it: they might have been counted. A first run cannot know
// them; it notes them in a Foresight, and the run is made again.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "backends/check/clock.hpp"
#include "backends/fiber/engine.hpp"

namespace sym::check {

// What a signal, a launch or a barrier carries to whoever acquires it.
struct ReleaseNote : fiber::Note {
  std::shared_ptr<const Clock> clock;
  AgentId agent = 0;
  std::uint64_t tick = 0;
  // Signals only.
  int to_pe = -1;             // the PE that fences count for
  std::uint64_t fenced = 0;   // how many transfers to it they cover
  std::uint64_t payload = 0;  // put_signal: the pe_order of its own put
  std::uint64_t pe_order = 0;
  std::uint64_t order = 0;  // among the issuer's transfers
  std::uint64_t amount = 0;
  bool sets = false;
  bool releases = true;  // false: a fetch_add on the word, which counts and brings nothing
  Site site;
  int pe = 0, launch = 0;
  fiber::Verb verb = fiber::Verb::signal;
  const fiber::Agent* by = nullptr;
  const char* launch_name = "";
};
using Signal = std::shared_ptr<const ReleaseNote>;

// Whether whoever acquires `later` has all that `earlier` would have brought.
bool brings(const ReleaseNote& later, const ReleaseNote& earlier);
// Adds to a clock what one release carries.
void take(Clock& clock, const ReleaseNote& release);

// Which wait: the agent, and the how manieth of its waits.
using WaitId = std::pair<AgentId, std::uint64_t>;

// What earlier runs of the same program, under the same schedule, have taught: the signals that a
// wait might have counted and that were issued after it.
class Foresight {
 public:
  const std::vector<Signal>& of(const WaitId& wait) const;
  // True if it is new.
  bool add(const WaitId& wait, const Signal& signal);

 private:
  std::map<WaitId, std::vector<Signal>> later_;
};

// A signal of a word, and who is known to have found it there.
struct Item {
  Signal signal;
  std::uint64_t total = 0;  // of the word, if all issued before it and no other have come
  AgentId taker = -1;       // the first whose wait counted it, for certain
  std::uint64_t taken = 0;  // ... and its tick: who knows of that comes after the delivery
};
// Whether `earlier` is delivered before `later`, whatever happens; both are for one word.
bool must_precede(const Item& earlier, const ReleaseNote& later);

// What a wait needs of signals that are not known to it yet: signals that add up to `value`, or
// one that sets the word to it (compared after `shift`).
struct Need {
  std::uint64_t value = 0;
  int shift = 0;
  bool sets = false;
};
// What a signal adds at most to what a wait counts: a fetch_add of a negative number takes away,
// and a wait that does not know of it must not count on that.
inline std::uint64_t most_of(std::uint64_t amount) {
  return static_cast<std::int64_t>(amount) < 0 ? 0 : amount;
}
// Adds to `clock` what every set of items that fulfils the need gives. They are in issue order.
void take_guaranteed(Clock& clock, const std::vector<const Item*>& items, const Need& need);

// Somebody who touches a word as data: what was before that, for it.
struct Toucher {
  AgentId agent = 0;
  const Clock& clock;
  std::uint64_t tick = 0;    // its own waits up to this one are before
  int to_pe = -1;            // of a transfer that fences order: its target ...
  std::uint64_t fenced = 0;  // ... and how many of its issuer's to there are before
};
// A wait or test that has looked at a word.
struct Look {
  const fiber::Agent* agent = nullptr;
  std::uint64_t tick = 0;
  fiber::Verb verb = fiber::Verb::wait_until;
  Site site;
  int launch = 0;
  const char* launch_name = "";
};

// The signals and waits of one word.
class Counted : public fiber::Note {
 public:
  struct Wait {
    AgentId agent = 0;
    std::uint64_t ordinal = 0;  // among the agent's
    std::uint64_t tick = 0;     // who knows of it comes after the wait
    std::uint64_t value = 0;    // that the word has, or more ...
    int shift = 0;              // ... after this shift
    bool consume = false;       // nobody else waits for the word, and its values grow
  };
  // `value`: what the word has before its first signal.
  explicit Counted(std::uint64_t value) : dropped_total_(value) {}
  // Returns whether the run has taught something new.
  bool issued(const Signal& signal, Foresight& foresight);
  struct Taken {
    // Signals that were enough for the wait, but of which it acquired no particular one. None if it
    // acquired all that it counted.
    std::vector<Signal> unknown;
    bool nothing_new = false;  // the waiter had all that it counted already
  };
  // A wait is over. Adds to `clock` what it acquires.
  Taken waited(Clock& clock, const Wait& wait, const Foresight& foresight);
  // A fetch_add, which has been done when it is told. Brings nothing to whoever counts it.
  bool added(const Signal& add, std::uint64_t tick, Foresight& foresight);
  // The latest look of each agent is kept.
  void looked(const Look& look);
  // What has been delivered or has looked, and is not known to be before the touch. `pending`: the
  // signals that have not been delivered.
  std::vector<Signal> not_before(const Toucher& touch,
                                 const std::vector<fiber::Transfer*>& pending) const;
  std::vector<Look> looks_not_before(const Toucher& touch) const;
  // The touch has written `value`: counting begins anew, with what is not before it.
  void restart(std::uint64_t value, const Toucher& touch);
  // The latest signal, if one has been issued since settle(); else null.
  const Item* last() const { return items_.empty() ? nullptr : &items_.back(); }
  // Everything so far happens before everything from now on.
  void settle();
  std::size_t bytes() const;

 private:
  struct Past {
    std::uint64_t ordinal = 0;
    std::uint64_t tick = 0;
    std::uint64_t counted = 0;  // the signals up to this one may have been acquired
    std::uint64_t certain = 0;  // ... and those up to this one had come, whatever happened
  };
  bool is_before(const ReleaseNote& signal, std::uint64_t number, const Toucher& touch) const;
  bool alters(const ReleaseNote& signal, const Past& wait) const;
  void drop(std::uint64_t upto);
  std::size_t first_reaching(const Wait& wait) const;
  Taken take_some(Clock& clock, const Wait& wait, const std::vector<Signal>& later);

  struct Waiter {
    AgentId agent = 0;
    std::vector<Past> waits;
  };
  std::vector<Past>& waits_of(AgentId agent);

  std::vector<Item> items_;      // in issue order, those that are not dropped
  std::uint64_t dropped_ = 0;    // how many are dropped: all later ones come after them
  AgentId dropped_agent_ = -1;   // ... and whose they were; -1: settled, or several agents'
  std::uint64_t dropped_total_;  // ... and the word's value by them
  bool chain_ = true;            // each is delivered before the next
  std::vector<Waiter> waiters_;  // few
  Look look_;                    // of the first waiter; most words have no other
  std::vector<Look> looks_;      // of the others
  Signal last_dropped_;          // null since settle()
};

}  // namespace sym::check
