// ExplorePolicy: one execution of a search. Every agent that stands before a verb, or whose wait
// has ended, and every transfer that may be read or delivered can be next; Search says which is.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "backends/check/explore_recorder.hpp"
#include "backends/check/explore_search.hpp"

namespace sym::check {

struct ExploreLimits {
  std::uint64_t events = 0;  // of this execution; what goes on longer is cut off
  bool pieces = false;       // payloads arrive in up to four pieces, in any order
  bool whole = false;        // no event of a kernel is taken as local
};

class ExplorePolicy : public fiber::Policy {
 public:
  ExplorePolicy(Search& search, Recorder& recorder, const ExploreLimits& limits)
      : search_(search), recorder_(recorder), limits_(limits) {}

  void ready(fiber::Engine& engine, fiber::Agent& agent) override;
  void woken(fiber::Engine& engine, fiber::Agent& agent) override;
  void issued(fiber::Engine& engine, fiber::Transfer& transfer) override;
  bool next(fiber::Engine& engine) override;
  bool waits_are_events() const override { return true; }

  std::uint64_t events() const { return events_; }
  // Whether this execution turned out to be equivalent to earlier ones.
  bool redundant() const { return redundant_; }
  bool cut_off() const { return cut_off_; }

 private:
  enum class What { resume, read, deliver, piece };
  struct Possible {
    What what = What::resume;
    fiber::Agent* agent = nullptr;
    fiber::Transfer* transfer = nullptr;
    std::size_t first = 0, bytes = 0;
  };
  struct Moving {
    fiber::Transfer* transfer = nullptr;
    std::vector<std::size_t> pieces;  // where those begin that have not come; empty: whole
    std::size_t piece_bytes = 0;
  };
  void gather(const fiber::Engine& engine);
  void add(const fiber::Transfer& transfer, const Possible& possible, std::size_t piece);
  bool is_local(const fiber::Agent& agent, bool woken) const;
  std::size_t fair_choice();
  void happen(fiber::Engine& engine, const Possible& possible);
  void move(fiber::Engine& engine, const Possible& possible);

  Search& search_;
  Recorder& recorder_;
  ExploreLimits limits_;
  struct Ready {
    bool woken = false;   // its next event ends a wait
    bool yields = false;  // it has looked in vain, and lets others on
  };
  std::map<fiber::Agent*, Ready> ready_;
  std::vector<Moving> moving_;
  std::vector<Candidate> candidates_;
  std::map<ProcessKey, Possible> possible_;
  std::uint64_t events_ = 0;
  bool redundant_ = false;
  ProcessKey last_key_;  // since then: whose turn was the last
  bool cut_off_ = false;
};

}  // namespace sym::check
