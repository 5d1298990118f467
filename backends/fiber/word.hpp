// Words that peers signal, and events of queues: what agents of the engine wait for.
#pragma once

#include <cstddef>
#include <cstdint>
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

// A 64-bit counter that peers signal. Its value is the eight bytes of the window that it lies in,
// so that signals, waits, and whatever verb or host touches the window see one number.
class Word {
 public:
  // `at` null: the window has no storage (a run without data), and the word keeps its value itself.
  Word(const WordId& id, std::uint64_t* at) : at_(at == nullptr ? &kept_ : at) {
    counts = id.lane < 0;
    history.id = id;
  }
  Word(const Word&) = delete;
  Word& operator=(const Word&) = delete;

  std::uint64_t value() const { return *at_; }
  void set(std::uint64_t value) { *at_ = value; }
  // Its window is about to be freed: what it has shown stays, for reports.
  void leave_memory() {
    kept_ = *at_;
    at_ = &kept_;
  }

  std::uint64_t posts = 0, takes = 0;  // of a flag of Posts: issued, and ended
  std::vector<Transfer*> pending;      // issued signals, in issue order
  struct Waiter {
    Agent* agent = nullptr;
    std::uint64_t target = 0;  // what it needs, compared after `shift`
    int shift = 0;
  };
  std::vector<Waiter> waiters;
  bool counts = false;  // a plain counter: compared as a number, where epochs may wrap
  bool reached(std::uint64_t target, int shift) const { return reaches(value(), target, shift); }
  bool reaches(std::uint64_t shown, std::uint64_t target, int shift) const {
    return counts ? shown >= target : has_come(shown, target, shift);
  }
  std::unique_ptr<Note> note;
  History history;
  // A verb of this event writes to it as to any memory: what it held before, and whether all that
  // did so have added to it.
  std::uint64_t before = 0;
  bool written = false, added = false;
  History::Touch writer;  // the last of them, as it was then: a host goes on within its event

 private:
  std::uint64_t kept_ = 0;
  std::uint64_t* at_;
};

}  // namespace sym::fiber
