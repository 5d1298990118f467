// The predictive rule against its definition: over all sets of signals that may have come when the
// wait was satisfied, the least of each number of the joined clocks.
#include <gtest/gtest.h>

#include <random>

#include "backends/check/counting.hpp"

namespace sym::check {
namespace {

constexpr int agents = 4;

// Signals of a few agents with some fences and payloads, whose clocks know some of the others'.
std::vector<Item> some_signals(std::mt19937_64& random, std::size_t n, std::size_t producers) {
  std::vector<Item> items(n);
  std::uint64_t orders[agents] = {}, fenced[agents] = {};
  Clock clocks[agents];  // who releases again knows no less
  for (Item& item : items) {
    auto note = std::make_shared<ReleaseNote>();
    const auto agent = static_cast<std::size_t>(random() % producers);
    const std::uint64_t before = orders[agent];
    if (random() % 3 == 0) fenced[agent] = before;
    const bool payload = random() % 2 == 0;
    orders[agent] += payload ? 2 : 1;
    for (int other = 0; other < agents; ++other) {
      clocks[agent].set_tick(other + 30, random() % 4);  // across two chunks
      if (other != static_cast<int>(agent)) clocks[agent].set_quiet(other + 30, random() % 2);
    }
    note->clock = std::make_shared<const Clock>(clocks[agent]);
    note->agent = static_cast<AgentId>(agent) + 30;
    note->tick = 4 + before;
    note->to_pe = 0;
    note->fenced = fenced[agent];
    note->payload = payload ? before + 1 : 0;
    note->pe_order = note->order = orders[agent];
    note->amount = 1 + random() % 2;
    item.signal = note;
  }
  return items;
}

std::uint64_t sum_of(const std::vector<Item>& items, std::size_t set) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if ((set >> i & 1) != 0) sum += items[i].signal->amount;
  }
  return sum;
}
bool may_come(const std::vector<Item>& items, std::size_t set) {
  for (std::size_t i = 0; i < items.size(); ++i) {
    for (std::size_t j = i + 1; j < items.size(); ++j) {
      const bool without = (set >> j & 1) != 0 && (set >> i & 1) == 0;
      if (without && must_precede(items[i], *items[j].signal)) return false;
    }
  }
  return true;
}
Clock joined(const std::vector<Item>& items, std::size_t set) {
  Clock clock;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if ((set >> i & 1) != 0) take(clock, *items[i].signal);
  }
  return clock;
}
bool knows(const Clock& clock, AgentId agent, std::uint64_t pe_order) {
  const Completed* completed = clock.completed(agent, 0);
  return completed != nullptr && completed->covers(pe_order);
}

TEST(Guaranteed, IsWhatEverySetOfSignalsThatMayHaveComeGives) {
  std::mt19937_64 random(4);
  int partial = 0;
  for (int round = 0; round < 400; ++round) {
    const std::size_t producers = 1 + static_cast<std::size_t>(round % agents);
    const std::vector<Item> items = some_signals(random, 2 + random() % 5, producers);
    const std::size_t sets = std::size_t{1} << items.size();
    const std::uint64_t need = 1 + random() % sum_of(items, sets - 1);
    std::vector<Clock> all;
    for (std::size_t set = 0; set < sets; ++set) {
      if (sum_of(items, set) >= need && may_come(items, set)) all.push_back(joined(items, set));
    }
    std::vector<const Item*> pointers;
    for (const Item& item : items) pointers.push_back(&item);
    Clock clock;
    take_guaranteed(clock, pointers, Need{need, 0, false});
    const auto least = [&](auto number) {
      std::uint64_t value = number(all.front());
      for (const Clock& one : all) value = std::min<std::uint64_t>(value, number(one));
      return value;
    };
    for (AgentId agent = 30; agent < 30 + agents; ++agent) {
      EXPECT_EQ(clock.tick(agent), least([&](const Clock& one) { return one.tick(agent); }));
      EXPECT_EQ(clock.quiet(agent), least([&](const Clock& one) { return one.quiet(agent); }));
      for (std::uint64_t order = 1; order < 12; ++order) {
        // What the quiet covers needs no entry.
        if (order <= clock.quiet(agent)) continue;
        EXPECT_EQ(knows(clock, agent, order),
                  least([&](const Clock& one) { return knows(one, agent, order) ? 1U : 0U; }) != 0)
            << "round " << round << " agent " << agent << " transfer " << order;
      }
      partial += clock.tick(agent) < joined(items, sets - 1).tick(agent) ? 1 : 0;
    }
  }
  EXPECT_GT(partial, 100);  // of the clocks' numbers: the rule had something to decide
}

}  // namespace
}  // namespace sym::check
