// What every legal delivery of some signals gives to whoever has waited for a part of them.
#include <algorithm>

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

// Of the transfers of one agent to one PE.
void take_transfers(Clock& clock, const std::vector<Clock>& all, const Deliveries& deliveries,
                    const Clock::Entry& entry) {
  std::vector<const Completed*> known(all.size());
  std::vector<std::uint64_t> values(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    known[i] = all[i].completed(entry.agent, entry.pe);
    values[i] = known[i] == nullptr ? 0 : known[i]->prefix;
  }
  Completed sure;
  sure.add_prefix(deliveries.least(values));
  for (const std::uint64_t one : entry.completed.singles) {
    for (std::size_t i = 0; i < all.size(); ++i)
      values[i] = known[i] != nullptr && known[i]->covers(one);
    if (deliveries.least(values) != 0) sure.add(one);
  }
  sure.last_order = entry.completed.last_order;
  if (sure.prefix != 0 || !sure.singles.empty())
    clock.completed_for(entry.agent, entry.pe).join(sure);
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
