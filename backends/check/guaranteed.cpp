// What every legal delivery of some signals gives to whoever has waited for a part of them.
#include <algorithm>
#include <set>

#include "backends/check/counting.hpp"
#include "core/signals.hpp"

namespace sym::check {

namespace {

class Deliveries {
 public:
  Deliveries(const std::vector<const Item*>& items, const Need& need) : items_(items), need_(need) {
    after_.resize(items.size());
    for (std::size_t i = 0; i < items.size(); ++i) {
      for (std::size_t j = i + 1; j < items.size(); ++j) {
        if (must_precede(*items[i], *items[j]->signal)) after_[i].push_back(j);
      }
    }
  }

  // The greatest number that some signal of every set that fulfils the need has. Take away the
  // signals with the greatest numbers, and those that come after them, until too few are left.
  std::uint64_t least(const std::vector<std::uint64_t>& values) const {
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    if (*low == *high) return *low;
    std::vector<std::size_t> order(values.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return values[a] > values[b]; });
    std::vector<bool> gone(values.size(), false);
    for (const std::size_t i : order) {
      take_away(i, gone);
      if (!enough(gone)) return values[i];
    }
    return *low;
  }

 private:
  void take_away(std::size_t first, std::vector<bool>& gone) const {
    std::vector<std::size_t> open{first};
    while (!open.empty()) {
      const std::size_t i = open.back();
      open.pop_back();
      if (gone[i]) continue;
      gone[i] = true;
      open.insert(open.end(), after_[i].begin(), after_[i].end());
    }
  }
  bool enough(const std::vector<bool>& gone) const {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < items_.size(); ++i) {
      if (gone[i]) continue;
      const std::uint64_t amount = items_[i]->signal->amount;
      if (need_.sets && has_come(amount, need_.value, need_.shift)) return true;
      sum += most_of(amount);
    }
    return !need_.sets && sum >= need_.value;
  }

  const std::vector<const Item*>& items_;
  Need need_;
  std::vector<std::vector<std::size_t>> after_;  // for each, those that must come after it
};

// Of the agents of one chunk.
void take_chunk(Clock& clock, const std::vector<Clock>& all, const Deliveries& deliveries,
                AgentId first) {
  std::vector<std::uint64_t> values(all.size());
  const AgentId end = first + static_cast<AgentId>(Clock::chunk_agents);
  for (AgentId agent = first; agent < end; ++agent) {
    for (std::size_t i = 0; i < all.size(); ++i) values[i] = all[i].tick(agent);
    clock.set_tick(agent, deliveries.least(values));
    for (std::size_t i = 0; i < all.size(); ++i) values[i] = all[i].quiet(agent);
    clock.set_quiet(agent, deliveries.least(values));
  }
}

// What each signal brings of the transfers of one agent to one PE. Who knows of a quiet behind all
// that another signal brings of them has it as well.
std::vector<Completed> brought(const std::vector<Clock>& all, AgentId agent, int pe) {
  std::vector<const Completed*> own(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) own[i] = all[i].completed(agent, pe);
  std::vector<Completed> each(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::uint64_t quiet = all[i].quiet(agent);
    for (std::size_t j = 0; j < all.size(); ++j) {
      if (own[j] == nullptr) continue;
      const bool behind = own[j]->last_order != 0 && own[j]->last_order <= quiet;
      if (i == j || behind) each[i].join(*own[j]);
    }
  }
  return each;
}

// Of the transfers of one agent to one PE. The singles are those of each signal for itself: in what
// all of them bring together, the prefix of one would hide the single of another.
void take_transfers(Clock& clock, const std::vector<Clock>& all, const Deliveries& deliveries,
                    const Clock::Entry& every) {
  const std::vector<Completed> each = brought(all, every.agent, every.pe);
  std::vector<std::uint64_t> values(each.size());
  std::set<std::uint64_t> singles;
  for (std::size_t i = 0; i < each.size(); ++i) {
    values[i] = each[i].prefix;
    singles.insert(each[i].singles.begin(), each[i].singles.end());
  }
  Completed sure;
  sure.add_prefix(deliveries.least(values));
  for (const std::uint64_t one : singles) {
    if (sure.covers(one)) continue;
    for (std::size_t i = 0; i < each.size(); ++i) values[i] = each[i].covers(one);
    if (deliveries.least(values) != 0) sure.add(one);
  }
  sure.last_order = every.completed.last_order;
  if (sure.prefix != 0 || !sure.singles.empty())
    clock.completed_for(every.agent, every.pe).join(sure);
}

}  // namespace

void take_guaranteed(Clock& clock, const std::vector<const Item*>& items, const Need& need) {
  const Deliveries deliveries(items, need);
  std::vector<Clock> all(items.size());
  AgentId end = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    take(all[i], *items[i]->signal);
    end = std::max(end, all[i].end());
  }
  for (AgentId first = 0; first < end; first += static_cast<AgentId>(Clock::chunk_agents)) {
    take_chunk(clock, all, deliveries, first);
  }
  Clock every;
  for (const Clock& one : all) every.join(one);
  for (const Clock::Entry& entry : every.entries()) take_transfers(clock, all, deliveries, entry);
}

}  // namespace sym::check
