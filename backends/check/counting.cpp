#include "backends/check/counting.hpp"

#include <algorithm>

#include "core/signals.hpp"

namespace sym::check {

bool brings(const ReleaseNote& later, const ReleaseNote& earlier) {
  if (!earlier.releases || !later.releases) return !earlier.releases;
  const bool known = later.agent == earlier.agent
                         ? later.tick >= earlier.tick
                         : later.clock->tick(earlier.agent) >= earlier.tick;
  if (!known) return false;
  if (later.agent == earlier.agent && earlier.fenced > later.fenced) return false;
  if (earlier.payload == 0) return true;
  if (later.agent == earlier.agent) return earlier.payload <= later.fenced;
  const Completed* completed = later.clock->completed(earlier.agent, earlier.to_pe);
  return completed != nullptr && completed->covers(earlier.payload);
}

void take(Clock& clock, const ReleaseNote& release) {
  if (!release.releases) return;
  // Who knows of the release's tick knows what its agent knew then.
  if (clock.tick(release.agent) < release.tick) {
    clock.join(*release.clock);
    clock.set_tick(release.agent, release.tick);
  }
  if (release.fenced == 0 && release.payload == 0) return;
  if (release.order <= clock.quiet(release.agent)) return;
  Completed& completed = clock.completed_for(release.agent, release.to_pe);
  completed.add_prefix(release.fenced);
  if (release.payload > 0) completed.add(release.payload);
  completed.last_order = std::max(completed.last_order, release.order);
}

bool must_precede(const Item& earlier, const ReleaseNote& later) {
  const ReleaseNote& signal = *earlier.signal;
  if (signal.agent == later.agent && signal.pe_order <= later.fenced) return true;
  if (signal.order <= later.clock->quiet(signal.agent)) return true;
  if (earlier.taker < 0) return false;
  return earlier.taker == later.agent || later.clock->tick(earlier.taker) >= earlier.taken;
}

// --- Foresight -----------------------------------------------------------------------------------

const std::vector<Signal>& Foresight::of(const WaitId& wait) const {
  static const std::vector<Signal> none;
  const auto found = later_.find(wait);
  return found == later_.end() ? none : found->second;
}

bool Foresight::add(const WaitId& wait, const Signal& signal) {
  std::vector<Signal>& known = later_[wait];
  for (Signal& one : known) {
    if (one->agent != signal->agent || one->order != signal->order) continue;
    one = signal;  // as the latest run had it
    return false;
  }
  known.push_back(signal);
  return true;
}

// --- Counted -------------------------------------------------------------------------------------

namespace {
// Epochs may wrap.
std::uint64_t later_of(std::uint64_t a, std::uint64_t b) { return has_come(a, b, 0) ? a : b; }
bool is_after(const ReleaseNote& signal, AgentId agent, std::uint64_t tick) {
  return signal.agent == agent || signal.clock->tick(agent) >= tick;
}
bool is_known(const Item& item, AgentId agent, const Clock& clock) {
  if (item.signal->order <= clock.quiet(item.signal->agent)) return true;
  return item.taker >= 0 && (item.taker == agent || clock.tick(item.taker) >= item.taken);
}
}  // namespace

// Whether the wait might have counted the signal, and would then know less.
bool Counted::alters(const ReleaseNote& signal, const Past& wait) const {
  if (dropped_ > 0 && wait.counted <= dropped_) return signal.agent != dropped_agent_;
  const auto counted = static_cast<std::ptrdiff_t>(wait.counted - dropped_);
  const auto replaced = [&](const Item& item) {
    return !must_precede(item, signal) && !brings(signal, *item.signal);
  };
  // In a chain the last one counted comes after, and brings, the others.
  const auto first = chain_ && counted > 0 ? items_.begin() + counted - 1 : items_.begin();
  return std::any_of(first, items_.begin() + counted, replaced);
}

bool Counted::issued(const Signal& signal, Foresight& foresight) {
  bool news = false;
  for (const auto& [agent, waits] : waiters_) {
    for (auto wait = waits.rbegin(); wait != waits.rend(); ++wait) {
      if (is_after(*signal, agent, wait->tick)) break;  // and after the earlier ones
      if (alters(*signal, *wait)) news |= foresight.add({agent, wait->ordinal}, signal);
    }
  }
  chain_ = chain_ && (items_.empty() || must_precede(items_.back(), *signal));
  Item item;
  item.signal = signal;
  const std::uint64_t before = items_.empty() ? dropped_total_ : items_.back().total;
  item.total = signal->sets ? later_of(before, signal->amount) : before + signal->amount;
  items_.push_back(std::move(item));
  return news;
}

// Of a chain: the first signal by which the word has what the wait needs.
std::size_t Counted::first_reaching(const Wait& wait) const {
  const auto found = std::lower_bound(items_.begin(), items_.end(), wait.value,
                                      [&](const Item& item, std::uint64_t value) {
                                        return !has_come(item.total, value, wait.shift);
                                      });
  return static_cast<std::size_t>(found - items_.begin());
}

Counted::Taken Counted::waited(Clock& clock, const Wait& wait, const Foresight& foresight) {
  const std::vector<Signal>& later = foresight.of({wait.agent, wait.ordinal});
  Taken taken;
  std::uint64_t counted = dropped_ + items_.size();
  std::uint64_t certain = 0;
  if (has_come(dropped_total_, wait.value, wait.shift)) {
    counted = 0;  // whoever waits now knows it
    taken.nothing_new = true;
  } else if (chain_ && later.empty()) {
    const std::size_t at = first_reaching(wait);
    if (at < items_.size()) {
      taken.nothing_new = is_known(items_[at], wait.agent, clock);
      take(clock, *items_[at].signal);
      for (std::size_t i = at + 1; i-- > 0 && items_[i].taker < 0;) {
        items_[i].taker = wait.agent;
        items_[i].taken = wait.tick;
      }
      certain = counted = dropped_ + at + 1;
    }
  } else {
    taken = take_some(clock, wait, later);
    if (taken.unknown.empty() && !taken.nothing_new) certain = counted;
  }
  std::vector<Past>& waits = waits_of(wait.agent);
  if (!waits.empty()) certain = std::max(certain, waits.back().certain);
  waits.push_back({wait.ordinal, wait.tick, counted, certain});
  if (wait.consume && chain_ && counted > 0) drop(counted);
  return taken;
}

Counted::Taken Counted::take_some(Clock& clock, const Wait& wait,
                                  const std::vector<Signal>& later) {
  Need need{wait.value, wait.shift, false};
  std::uint64_t known = dropped_total_;
  std::uint64_t sum = 0;
  std::vector<Item> added;
  for (const Signal& signal : later) added.push_back({signal, 0, -1, 0});
  std::vector<const Item*> open;
  std::vector<Item*> own;
  for (Item& item : items_) {
    const std::uint64_t amount = item.signal->amount;
    need.sets = item.signal->sets;
    if (is_known(item, wait.agent, clock)) {
      known = need.sets ? later_of(known, amount) : known + amount;
    } else {
      sum += most_of(amount);
      open.push_back(&item);
      own.push_back(&item);
    }
  }
  for (const Item& item : added) {
    const bool here = std::any_of(items_.begin(), items_.end(), [&](const Item& other) {
      return other.signal->agent == item.signal->agent && other.signal->order == item.signal->order;
    });
    if (here) continue;
    sum += most_of(item.signal->amount);
    open.push_back(&item);
  }
  if (open.empty() || has_come(known, wait.value, wait.shift)) return {{}, true};
  if (!need.sets) need.value -= known;
  if (!need.sets && sum <= need.value) {  // all of them have come
    for (Item* item : own) {
      take(clock, *item->signal);
      if (!item->signal->releases) continue;  // who knows of its agent knows of it
      item->taker = wait.agent;
      item->taken = wait.tick;
    }
    return {};
  }
  take_guaranteed(clock, open, need);
  Taken taken;
  for (const Item* item : open) taken.unknown.push_back(item->signal);
  return taken;
}

std::vector<Counted::Past>& Counted::waits_of(AgentId agent) {
  for (Waiter& waiter : waiters_) {
    if (waiter.agent == agent) return waiter.waits;
  }
  waiters_.push_back({agent, {}});
  return waiters_.back().waits;
}

// Forgets the first signals, up to one that the next ones come after and that has been waited for.
void Counted::drop(std::uint64_t upto) {
  std::size_t gone = 0;
  while (gone + 1 < items_.size() && dropped_ < upto) {
    const Item& first = items_[gone];
    const bool of_one = dropped_ == 0 || dropped_agent_ == first.signal->agent;
    if (!of_one || !must_precede(first, *items_.back().signal)) break;
    dropped_agent_ = first.signal->agent;
    dropped_total_ = first.total;
    last_dropped_ = first.signal;
    ++dropped_;
    ++gone;
  }
  items_.erase(items_.begin(), items_.begin() + static_cast<std::ptrdiff_t>(gone));
}

void Counted::settle() {
  if (!items_.empty()) dropped_total_ = items_.back().total;
  dropped_ = 0;
  dropped_agent_ = -1;
  items_.clear();
  waiters_.clear();
  look_ = {};
  looks_.clear();
  last_dropped_ = nullptr;
  chain_ = true;
}

std::size_t Counted::bytes() const {
  std::size_t all = items_.size() * (sizeof(Item) + sizeof(ReleaseNote));
  for (const auto& [agent, waits] : waiters_) all += waits.capacity() * sizeof(Past);
  all += looks_.capacity() * sizeof(Look);
  return all;
}

}  // namespace sym::check
