// Counting, where a word is touched as data as well: reset by a verb or a host, read, added to.
#include <algorithm>
#include <utility>

#include "backends/check/counting.hpp"
#include "backends/check/race_notes.hpp"

namespace sym::check {

// A fetch_add orders nothing, so it is no link of a chain in which the last brings what all do.
bool Counted::added(const Signal& add, std::uint64_t tick, Foresight& foresight) {
  const bool news = issued(add, foresight);
  items_.back().taker = add->agent;
  items_.back().taken = tick;
  chain_ = false;
  return news;
}

void Counted::looked(const Look& look) {
  if (look_.agent == nullptr || look_.agent == look.agent) {
    look_ = look;
    return;
  }
  for (Look& one : looks_) {
    if (one.agent != look.agent) continue;
    one = look;
    return;
  }
  looks_.push_back(look);
}

// Whether the delivery of a signal, the how manieth of the word, is before the touch: its issuer
// has completed it, a fence lies between the two, or a wait that is before has counted it.
bool Counted::is_before(const ReleaseNote& signal, std::uint64_t number,
                        const Toucher& touch) const {
  if (signal.order <= touch.clock.quiet(signal.agent)) return true;
  const bool fenced =
      signal.agent == touch.agent && signal.to_pe == touch.to_pe && signal.pe_order <= touch.fenced;
  if (fenced) return true;
  return std::any_of(waiters_.begin(), waiters_.end(), [&](const Waiter& waiter) {
    const bool own = waiter.agent == touch.agent;
    const std::uint64_t known = own ? touch.tick : touch.clock.tick(waiter.agent);
    const auto wait = std::find_if(waiter.waits.rbegin(), waiter.waits.rend(),
                                   [&](const Past& one) { return one.tick <= known; });
    return wait != waiter.waits.rend() && wait->certain >= number;
  });
}

// What a fetch_add does is in the shadow, as any access is.
std::vector<Signal> Counted::not_before(const Toucher& touch,
                                        const std::vector<fiber::Transfer*>& pending) const {
  std::vector<Signal> found;
  if (last_dropped_ != nullptr && !is_before(*last_dropped_, dropped_, touch))
    found.push_back(last_dropped_);
  for (std::size_t i = 0; i < items_.size(); ++i) {
    const Signal& signal = items_[i].signal;
    const bool under_way = std::any_of(pending.begin(), pending.end(), [&](const auto* transfer) {
      return transfer->note == signal;
    });
    if (signal->releases && !under_way && !is_before(*signal, dropped_ + i + 1, touch))
      found.push_back(signal);
  }
  return found;
}

std::vector<Look> Counted::looks_not_before(const Toucher& touch) const {
  std::vector<Look> found;
  const auto add = [&](const Look& look) {
    const bool own = id_of(*look.agent) == touch.agent;
    if (look.tick > (own ? touch.tick : touch.clock.tick(id_of(*look.agent))))
      found.push_back(look);
  };
  if (look_.agent != nullptr) add(look_);
  for (const Look& look : looks_) add(look);
  return found;
}

// A signal that was issued already and is not before the write comes after it, or races with it.
void Counted::restart(std::uint64_t value, const Toucher& touch) {
  std::vector<Item> kept;
  for (std::size_t i = 0; i < items_.size(); ++i) {
    const ReleaseNote& signal = *items_[i].signal;
    if (signal.releases && !is_before(signal, dropped_ + i + 1, touch)) kept.push_back(items_[i]);
  }
  settle();
  dropped_total_ = value;
  for (Item& item : kept) {
    const std::uint64_t amount = item.signal->amount;
    value = item.signal->sets ? amount : value + amount;
    item.total = value;
    chain_ = chain_ && (items_.empty() || must_precede(items_.back(), *item.signal));
    items_.push_back(std::move(item));
  }
}

}  // namespace sym::check
