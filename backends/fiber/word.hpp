// Words that peers signal, and events of queues: what agents of the engine wait for.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "backends/fiber/history.hpp"
#include "core/signals.hpp"

namespace sym::fiber {

// What an observer keeps with an agent, a transfer, a signal or a word.
struct Note {
  virtual ~Note() = default;
};

struct Agent;
struct Transfer;

// What Queue::record makes: that a queue has come to a place, and what it had done by then.
struct Event {
  bool done = false;
  std::shared_ptr<const Note> note;
  std::vector<Agent*> waiters;
};

// A 64-bit counter that peers signal. Kept apart from payload memory: always exact.
struct Word {
  struct Arrival {
    std::uint64_t value = 0;  // of the word, after it
    std::shared_ptr<const Note> note;
  };
  std::uint64_t value = 0;
  std::deque<Arrival> arrivals;        // delivered, not yet acquired by the word's waiters
  std::uint64_t posts = 0, takes = 0;  // of a flag of Posts: issued, and ended
  std::vector<Transfer*> pending;      // issued signals, in issue order
  struct Waiter {
    Agent* agent = nullptr;
    std::uint64_t target = 0;  // what it needs, compared after `shift`
    int shift = 0;
  };
  std::vector<Waiter> waiters;
  bool counts = false;  // a plain counter: compared as a number, where epochs may wrap
  bool reached(std::uint64_t target, int shift) const { return reaches(value, target, shift); }
  bool reaches(std::uint64_t shown, std::uint64_t target, int shift) const {
    return counts ? shown >= target : has_come(shown, target, shift);
  }
  std::unique_ptr<Note> note;
  History history;
};

}  // namespace sym::fiber
