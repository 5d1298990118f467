// Search: which executions are still to come. Source-set dynamic partial-order reduction with sleep
// sets (Abdulla, Aronis, Jonsson, Sagonas: Optimal dynamic partial order reduction, POPL 2014,
// algorithm 1): from the conflicts that an execution has shown follows at which of its states
// another choice could lead to something else.
//
// What that algorithm assumes holds here: nothing that happens takes away what another agent or
// transfer can do next, because words only grow and fences and quiets only wait.
//
// With a bound on preemptions the other order of two events may be within it only if it begins
// where the turn of the one that went on has begun. So a race adds choices there as well, and there
// are no sleep sets: what they stand for may cost more preemptions than it would by itself (Coons,
// Musuvathi, McKinley: Bounded partial-order reduction, OOPSLA 2013).
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "backends/check/explore_trace.hpp"

namespace sym::check {

// Who makes an event, under a name that is the same in every execution.
struct ProcessKey {
  bool transfer = false;
  int pe = 0;
  int stream = 0;
  int block = 0;
  bool operation = false;   // of a queue
  std::uint64_t order = 0;  // a transfer: among its issuer's
  std::size_t piece = 0;    // ... and which part of it
  // The rule takes what it makes of 0 for a pointer.
  auto operator<=>(const ProcessKey&) const = default;  // NOLINT(modernize-use-nullptr)
};

// What can happen next.
struct Candidate {
  ProcessKey key;
  int process = 0;
  bool local = false;  // it conflicts with nothing: the others may as well come after it
  bool agent = false;
  bool yields = false;  // an agent that looks in vain: it comes last, and who goes before is free
};

class Search {
 public:
  // `bound`: switches away from an agent that could go on, in one execution; -1: any number.
  Search(int bound, bool reduce) : bound_(bound), reduce_(reduce) {}

  // Makes one execution only: the one with these decisions. A choice that is not there is an error
  // (see lost) if `exact`, else the default.
  void follow(std::vector<std::uint32_t> decisions, bool exact);
  // Whether it came to a choice that it does not have.
  bool lost() const { return lost_; }

  // Begins an execution: the one that is next.
  void begin();
  // The place in `candidates` of what happens next; puts them in order, the default choice first.
  // None: whatever could happen has been seen in other executions, so the rest does not matter.
  std::optional<std::size_t> choose(std::vector<Candidate>& candidates);
  // What was chosen has happened; `ended_run`: and nothing else can.
  void happened(Footprint touched, std::vector<std::size_t> after, bool ended_run);
  // Moves on to the next execution; false if there is none.
  bool advance();

  int process(const ProcessKey& key);
  std::size_t depth() const { return depth_; }
  bool has_turn(int process) const { return process == agent_; }
  // Whether the bound has kept something out.
  bool cut() const { return cut_; }
  // The choices of this execution, each as a place in the order of choose, where there was one.
  // Those at the end that are the default are left out.
  std::vector<std::uint32_t> decisions() const;

 private:
  struct Asleep {
    int process = 0;
    Footprint next;  // what its next event touches
  };
  struct Node {
    std::vector<Candidate> candidates;
    std::vector<int> wanted;     // to be tried here, or tried already
    std::vector<int> done;       // without reduction: tried
    std::vector<Asleep> asleep;  // need not be tried: seen from elsewhere, or tried
    std::size_t chosen = 0;
    int agent = -1;  // whose turn it was
    int switches = 0;
  };
  Node make_node(const std::vector<Candidate>& candidates);
  void order(std::vector<Candidate>& candidates) const;
  bool is_switch(const Node& node, const Candidate& candidate) const;
  bool allowed(const Node& node, const Candidate& candidate);
  std::optional<std::size_t> first_awake(const Node& node);
  std::optional<std::size_t> followed(std::size_t candidates);
  std::optional<std::size_t> untried(Node& node);
  bool sleeps() const { return reduce_ && bound_ < 0; }
  void add_race(std::size_t earlier, std::size_t later);
  void add_race_within_bound(std::size_t earlier, std::size_t later);
  static void want(Node& node, const std::vector<int>& processes);
  static bool contains(const std::vector<Asleep>& asleep, int process);

  int bound_;
  bool reduce_;
  bool cut_ = false;
  std::optional<std::vector<std::uint32_t>> followed_;
  std::size_t next_followed_ = 0;
  bool exact_ = true;
  bool lost_ = false;
  std::map<ProcessKey, int> processes_;
  std::vector<Node> nodes_;
  Trace trace_;
  std::size_t depth_ = 0;
  int agent_ = -1;   // whose turn it is
  ProcessKey turn_;  // ... by name
  int switches_ = 0;
};

}  // namespace sym::check
