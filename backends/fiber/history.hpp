// History: what became of a word so far. The report of a hang needs it, and nothing else does.
#pragma once

#include <cstdint>
#include <vector>

#include "core/function.hpp"

namespace sym::fiber {

enum class Verb;

// Where a word is: for reports and as a key.
struct WordId {
  int pe = 0;
  int space = 0;
  std::size_t index = 0;
  std::size_t slot = 0;  // row of its table
  int lane = 0;          // column; -1: the table has one column, for everybody
};

// The 64 bits of an allocation, among those of one PE.
inline std::uint64_t key_of(int space, std::size_t index) {
  return (static_cast<std::uint64_t>(space) << 40) | index;
}
inline std::uint64_t key_of(const WordId& id) { return key_of(id.space, id.index); }

struct History {
  struct Touch {
    int agent = -1;
    int launch = 0;
    Verb verb = {};
    Site site = {};
    std::uint64_t value = 0;  // of the word after it; of a taker: what it waited for
    bool absorbed = false;    // set to no more than was there, so it changed nothing
  };
  static constexpr std::size_t most_updates = 4;
  struct Producer {
    int agent = -1;
    std::uint64_t times = 0;  // how many updates, since the last write that was none
    int launch = 0;           // of its last update
    std::uint64_t in_launch = 0;
  };
  // Signals that a write took away before anybody had waited for them.
  struct Wiped {
    Touch last, by;
    std::uint64_t count = 0;
  };

  WordId id;
  std::vector<Touch> updates;  // the latest, oldest first
  std::vector<Producer> producers;
  Touch reset;                         // the last write that was no signal
  Wiped wiped;                         // by a write that stands, or by none
  Touch taker;                         // who consumed last
  std::uint64_t awaited = 0, met = 0;  // the last targets: of waits, of those met
  int shift = 0;                       // of these targets
  bool waited_for = false;
  bool tested = false;  // polled: nobody knows what it waits for

  // Of two targets: counters are compared, epochs only go on (and may wrap).
  std::uint64_t highest(std::uint64_t before, std::uint64_t target) const {
    return id.lane < 0 && before > target ? before : target;
  }
  void awaits(std::uint64_t target, int by) {
    awaited = waited_for ? highest(awaited, target) : target;
    shift = by;
    waited_for = true;
  }
  // Something else than a signal has written the word: what was counted counts no more.
  void restarted(const Touch& touch) {
    const std::uint64_t kept = met > touch.value ? met : touch.value;
    if (!updates.empty()) wiped = {};
    if (!updates.empty() && !tested && id.lane < 0 && updates.back().value > kept)
      wiped = {updates.back(), touch, updates.back().value - kept};
    updates.clear();
    for (Producer& one : producers) one.times = 0;
    awaited = met = 0;
    waited_for = false;
    taker = {};
    reset = touch;
  }
  void updated(const Touch& touch) {
    if (updates.size() == most_updates) updates.erase(updates.begin());
    updates.push_back(touch);
    for (Producer& one : producers) {
      if (one.agent != touch.agent) continue;
      ++one.times;
      one.in_launch = one.launch == touch.launch ? one.in_launch + 1 : 1;
      one.launch = touch.launch;
      return;
    }
    producers.push_back({touch.agent, 1, touch.launch, 1});
  }
};

}  // namespace sym::fiber
