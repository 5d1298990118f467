#include "backends/check/explore_trace.hpp"

#include <algorithm>
#include <utility>

namespace sym::check {

void Trace::Bits::set(std::size_t at) {
  if (at / 64 >= words_.size()) words_.resize(at / 64 + 1);
  words_[at / 64] |= std::uint64_t{1} << (at % 64);
}

bool Trace::Bits::test(std::size_t at) const {
  return at / 64 < words_.size() && ((words_[at / 64] >> (at % 64)) & 1) != 0;
}

void Trace::Bits::join(const Bits& other) {
  if (other.words_.size() > words_.size()) words_.resize(other.words_.size());
  for (std::size_t i = 0; i < other.words_.size(); ++i) words_[i] |= other.words_[i];
}

bool Trace::Bits::meets(const Bits& other) const {
  const std::size_t both = std::min(words_.size(), other.words_.size());
  for (std::size_t i = 0; i < both; ++i) {
    if ((words_[i] & other.words_[i]) != 0) return true;
  }
  return false;
}

void Trace::truncate(std::size_t size) {
  events_.resize(std::min(size, events_.size()));
  before_.resize(events_.size());
}

void Trace::put_behind(Bits& before, std::size_t at) const {
  before.set(at);
  before.join(before_[at]);
}

std::vector<std::size_t> Trace::add(TraceEvent event) {
  Bits before;
  for (const std::size_t at : event.after) put_behind(before, at);
  // From the latest on: what is in `before` when its turn comes is ordered by something between.
  std::vector<std::size_t> races;
  for (std::size_t at = events_.size(); at-- > 0;) {
    if (before.test(at)) continue;
    const TraceEvent& earlier = events_[at];
    if (earlier.process == event.process || enables(earlier.touched, event.touched)) {
      put_behind(before, at);
    } else if (conflict(earlier.touched, event.touched)) {
      races.push_back(at);
      put_behind(before, at);
    }
  }
  events_.push_back(std::move(event));
  before_.push_back(std::move(before));
  return races;
}

std::vector<int> Trace::first_steps(std::size_t earlier, std::size_t later) const {
  Bits kept;  // what stays, without `earlier` and all that happens after it
  std::vector<int> processes;
  for (std::size_t at = earlier + 1; at <= later; ++at) {
    if (at != later && before_[at].test(earlier)) continue;
    // `later` itself comes after `earlier` by the race alone; all else before it is kept.
    if (!before_[at].meets(kept)) processes.push_back(events_[at].process);
    kept.set(at);
  }
  return processes;
}

}  // namespace sym::check
