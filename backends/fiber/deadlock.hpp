// Deadlock: why nothing can happen any more. An AND-OR graph of who waits for whom, as MUST builds
// it (Hilbrich et al., "Distributed wait state tracking for runtime MPI deadlock detection", SC
// 2013): a wait needs ALL of its words, and a word can be written by ANY of those who still might.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "backends/fiber/engine.hpp"

namespace sym::fiber {

// In the order in which they are tried. `behind` is no cause: the agent waits for one that waits.
// clang-format off
enum class Verdict { lost, misdirected, wrong_value, stale_epoch, not_scheduled, exited, cycle,
                     no_producer, behind };
// clang-format on
const char* to_string(Verdict verdict);

// One of the things that an agent needs, all of which it waits for.
struct Need {
  const Word* word = nullptr;  // null: not a word but what `what` says
  Word::Waiter wait;
  std::string what;
  std::string line;     // what is wanted and what is there; texts are made before a trial
  bool polled = false;  // it looks, and nobody knows for what
  std::uint64_t seen = 0;
  std::vector<Site> sites;         // that have signalled it
  std::vector<const Agent*> from;  // who can still bring it; any of them would do
  std::string queued;              // a launch that has not begun might bring it: which
  Verdict verdict = Verdict::behind;
  std::string why;              // of a verdict: one clause
  std::vector<Place> culprits;  // ... and where in the source
  void decide(Verdict cause, std::string because) {
    verdict = cause;
    why = std::move(because);
  }
};

inline bool runs(const Agent& agent) { return agent.state != Agent::State::idle; }
inline bool same_site(Site a, Site b) {
  return a.line != 0 && a.line == b.line && std::string(a.file) == b.file;
}

class Deadlock {
 public:
  // The engine has nothing left to do, or all who can run poll in vain. Kept for as long as this.
  explicit Deadlock(const Engine& engine);
  // A deadlock, or a livelock if somebody polls.
  Finding finding(const Trial& trial);

 private:
  struct Waiting {
    const Agent* agent = nullptr;
    std::string head;  // who and where
    Place place;
    bool queued = false, polls = false;
    std::vector<Need> needs;  // the first, and those with a verdict
    std::size_t more = 0;     // that are not kept
    Verdict verdict = Verdict::behind;
    std::size_t root = 0;  // the need that has it
  };
  using Touch = History::Touch;

  // deadlock_needs.cpp: what an agent needs, and who could bring it.
  Waiting waiting(const Agent& agent) const;
  void need_words(Waiting& waiting) const;
  void need_of_host(Waiting& waiting) const;
  void need_of_place(Waiting& waiting) const;
  void need_of_mark(Waiting& waiting) const;
  void need_of_poll(Waiting& waiting) const;
  Need judge(const Agent& agent, const Word& word, const Word::Waiter& wait) const;
  void from_lane(const Agent& agent, Need& need) const;
  void from_anyone(const Agent& agent, Need& need) const;
  static bool all_wait_there(const Agent& agent, const std::vector<const Agent*>& others);
  const Agent* producer_of(const Agent& agent, const Word& word) const;
  std::string line_of(const Agent& agent, const Need& need) const;
  // "channel #0 steps slot 3 lane 1"; a counter has no lane.
  std::string slot_of(const WordId& id) const;
  std::string who(const Touch& touch) const;
  Place place(const Touch& touch, const std::string& role) const;

  // deadlock_absent.cpp: what is said of a PE that brings nothing.
  void absent(const Agent& agent, int pe, const Agent* ended, Need& need) const;
  void not_launched(const Agent& agent, int pe, Need& need) const;
  bool may_launch(const Agent& agent, int pe) const;
  bool may_post(int pe, const Word& flag, const Agent* ended) const;
  std::string ended_without(const Agent& agent, const Agent& ended, const Need& need) const;
  bool most_have_begun(int launch) const;
  static std::string outside(const Agent& agent);

  // deadlock_causes.cpp: true, and decided, if it is that.
  void find_spare();
  bool lost(Need& need) const;
  bool wiped_out(Need& need) const;
  bool misdirected(const Agent& agent, Need& need) const;
  bool in_place_of(const Agent& agent, const Need& need, const Word& other) const;
  bool wrong_value(const Agent& agent, Need& need) const;

  // deadlock_turns.cpp: what the trial says.
  void learn(const Trial& trial);
  void learn(Waiting& waiting, const Trial& trial) const;
  bool freed(const Waiting& waiting, const Trial& trial) const;
  static bool repeats(const Need& need, Site site);
  bool by_turn(const Agent& agent, Need& need, const Trial& trial) const;
  void by_freed(Need& need) const;
  void without_turn(const Agent& agent, Need& need, const Trial& trial) const;
  std::string turn_of(const Agent& agent, const Agent& late, const Trial& trial) const;

  // deadlock.cpp: the graph, and the text.
  static void choose(Waiting& waiting);
  void find_cycle(bool guess);
  std::string guessed() const;
  std::vector<const Agent*> way_back(const Agent& start) const;
  const Waiting& root() const;
  std::string text(const Waiting& waiting) const;
  std::string text(const Need& need) const;
  std::string headline() const;
  std::vector<Place> places(const Waiting& root) const;
  bool in_ring(const Waiting& waiting) const;
  std::string ring() const;
  std::string reason(const Waiting& root) const;

  const Engine& engine_;
  int resident_blocks_;
  // Words that got more than anybody waits for, by table.
  std::map<int, std::vector<const Word*>> spare_;
  std::vector<Waiting> all_;  // blocks and operations before hosts
  std::map<const Agent*, std::size_t> index_;
  std::vector<const Agent*> cycle_;  // each waits for the next, the last for the first
};

}  // namespace sym::fiber
