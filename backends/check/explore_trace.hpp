// Trace: the events of one execution, and which of them happen before which: by program order, by
// what enables what, and by conflicts, in the order that the execution had.
#pragma once

#include <cstdint>
#include <vector>

#include "backends/check/footprint.hpp"

namespace sym::check {

// One step of a process: of an agent (what it does from one decision point to the next) or of a
// transfer (the read of its source, a delivery).
struct TraceEvent {
  int process = 0;
  Footprint touched;
  std::vector<std::size_t> after;  // events without which it could not have come
};

class Trace {
 public:
  std::size_t size() const { return events_.size(); }
  const TraceEvent& event(std::size_t at) const { return events_[at]; }
  void truncate(std::size_t size);
  // Appends it. Returns the earlier events that it races with: those that conflict with it, that
  // nothing between them orders, and that could have come after it.
  std::vector<std::size_t> add(TraceEvent event);
  // Of a race: the processes that can make the next step at the place of `earlier`, on the way to
  // an execution in which `later` comes first.
  std::vector<int> first_steps(std::size_t earlier, std::size_t later) const;

 private:
  class Bits {
   public:
    void set(std::size_t at);
    bool test(std::size_t at) const;
    void join(const Bits& other);
    bool meets(const Bits& other) const;

   private:
    std::vector<std::uint64_t> words_;
  };
  void put_behind(Bits& before, std::size_t at) const;

  std::vector<TraceEvent> events_;
  std::vector<Bits> before_;  // for each event, those that happen before it
};

}  // namespace sym::check
