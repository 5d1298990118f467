// Signals, counters, fence, quiet and fetch_add: what is ordered before what.
#pragma once

#include "core/collective/barrier.hpp"
#include "core/collective/share.hpp"
#include "tests/conformance/harness.hpp"

namespace sym::conformance {

// Slot s of every PE gets s+1 signals from every other PE. `seen` of this PE: per slot, what
// wait_until and test returned.
struct CountUp {
  static constexpr std::size_t slots = 3;
  Group group;
  Signals counter;
  Window<std::uint64_t> seen;
  std::uint64_t round;  // counters only add: rounds before this one have left theirs
  template <Block B>
  SYM_FN void operator()(B& block) const {
    const Team& team = group.team;
    const std::uint64_t others = static_cast<std::uint64_t>(team.size() - 1);
    block.enter(group.channel);
    for (std::size_t slot = 0; slot < slots; ++slot) {
      for (std::size_t times = 0; times <= slot; ++times) block.signal(counter, slot, team);
    }
    for (std::size_t slot = 0; slot < slots; ++slot) {
      const std::uint64_t wanted = round * others * (slot + 1);
      const std::uint64_t waited = block.wait_until(counter, slot, wanted);
      block.put_value(seen, 2 * slot, waited, block.pe());
    }
    if (!barrier(block, group)) return;
    for (std::size_t slot = 0; slot < slots; ++slot) {
      block.put_value(seen, 2 * slot + 1, block.test(counter, slot), block.pe());
    }
    barrier(block, group);  // nobody signals again before this PE has looked
    block.leave(group.channel);
  }
};

template <class W>
void count_up(W& world, Errors& errors) {
  const Signals counter = counters(world, CountUp::slots);
  const auto seen = world.template allocate<std::uint64_t>(2 * CountUp::slots);
  const Group group{world.channel({1}), world.team()};
  for (std::uint64_t round = 1; round <= 3; ++round) {
    world.launch(launch_of("count"), CountUp{group, counter, seen, round});
    std::vector<std::uint64_t> wanted;
    for (std::size_t slot = 0; slot < CountUp::slots; ++slot) {
      const std::uint64_t total =
          round * static_cast<std::uint64_t>(world.n_pes() - 1) * (slot + 1);
      wanted.insert(wanted.end(), {total, total});
    }
    expect_equal(errors, who(world, "counters"), read_all(world, seen, 2 * CountUp::slots), wanted);
  }
}

// Messages of one element each, to a new place each: a fence puts each before its signal.
struct FencedMessages {
  Group group;
  Signals counter;
  Window<float> inbox, src, out;
  std::size_t rounds;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    const int next = group.team.pe(group.team.next());
    block.enter(group.channel);
    for (std::size_t k = 0; k < rounds; ++k) {
      block.put(inbox, src, Range{16 * k, 16}, next);
      block.fence(next);
      block.signal(counter, 0, next);
      if (block.wait_until(counter, 0, k + 1) == 0) return;
      block.transform(out, Range{16 * k, 16}, detail::Identity{}, inbox);
    }
    barrier(block, group);
    block.leave(group.channel);
  }
};

template <class W>
void fence_orders_signal(W& world, Errors& errors) {
  constexpr std::size_t rounds = 6;
  const Signals counter = counters(world, 1);
  const auto inbox = world.template allocate<float>(16 * rounds);
  const auto src = world.template allocate<float>(16 * rounds);
  const auto out = world.template allocate<float>(16 * rounds);
  const Group group{world.channel({1}), world.team()};
  write_all(world, src, values<float>({1, world.pe(), 1}, 16 * rounds));
  world.launch(launch_of("fenced"), FencedMessages{group, counter, inbox, src, out, rounds});
  const int previous = (world.pe() + world.n_pes() - 1) % world.n_pes();
  expect_equal(errors, who(world, "messages"), read_all(world, out, 16 * rounds),
               values<float>({1, previous, 1}, 16 * rounds));
}

// PE 0 puts to PE 1, completes that, and tells PE 2, which tells PE 3, which gets it from PE 1:
// what quiet completed is there for whoever acquires it, however far the news has gone.
struct ThirdParty {
  Group group;
  Signals counter;
  Window<std::int32_t> place, src, out;
  std::size_t n;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    block.enter(group.channel);
    if (block.pe() == 0) {
      block.put(place, src, Range{0, n}, 1);
      block.quiet();
      block.signal(counter, 0, 2);
    } else if (block.pe() == 2) {
      block.wait_until(counter, 0, std::uint64_t{1});
      block.signal(counter, 0, 3);
    } else if (block.pe() == 3) {
      block.wait_until(counter, 0, std::uint64_t{1});
      block.get(out, place, Range{0, n}, 1);
      block.quiet();
    }
    block.leave(group.channel);
  }
};

template <class W>
void quiet_completes_for_all(W& world, Errors& errors) {
  constexpr std::size_t n = 777;
  const Signals counter = counters(world, 1);
  const auto place = world.template allocate<std::int32_t>(n);
  const auto src = world.template allocate<std::int32_t>(n);
  const auto out = world.template allocate<std::int32_t>(n);
  const Group group{world.channel({1}), world.team()};
  write_all(world, src, values<std::int32_t>({1, world.pe(), 1}, n));
  world.launch(launch_of("third"), ThirdParty{group, counter, place, src, out, n});
  if (world.pe() != 3) return;
  expect_equal(errors, who(world, "what PE 0 put to PE 1"), read_all(world, out, n),
               values<std::int32_t>({1, 0, 1}, n));
}

// Every block of every PE takes tickets from one counter on PE 0, and leaves a one at the place of
// each.
template <class T>
struct TakeTickets {
  Group group;
  Window<T> tickets;
  Window<std::int32_t> taken;
  int each;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    block.enter(group.channel);
    for (int i = 0; i < each; ++i) {
      const T ticket = block.fetch_add(tickets, 1, T{1}, 0);
      block.fetch_add(taken, static_cast<std::size_t>(ticket), 1, 0);
    }
    barrier(block, group);
    block.leave(group.channel);
  }
};

template <class T, class W>
void tickets_are_unique(W& world, Errors& errors) {
  constexpr int each = 5;
  constexpr int blocks = 3;
  const auto total = static_cast<std::size_t>(world.n_pes() * each * blocks);
  const auto tickets = world.template allocate<T>(2);
  const auto taken = world.template allocate<std::int32_t>(total);
  const Group group{world.channel({blocks}), world.team()};
  world.launch(launch_of("tickets", blocks, 0, false), TakeTickets<T>{group, tickets, taken, each});
  world.synchronize();
  world.barrier();
  if (world.pe() != 0) return;
  expect_equal(errors, "counter", read_all(world, tickets, 2), {T{0}, static_cast<T>(total)});
  expect_equal(errors, "tickets", read_all(world, taken, total),
               std::vector<std::int32_t>(total, 1));
}

// Signals of one table to the whole team and to single PEs in turn, and waits likewise: each pair
// counts its own, whoever was spoken to in the same call. Row 0: each PE gets three signals from
// each other PE, and waits for the middle one alone. Row 1: it gets two messages from each, and
// waits for all first ones at once and for each second one alone.
struct MixedTeams {
  static constexpr std::size_t rows = 2;
  static constexpr std::size_t n = 16;  // elements of a message
  Group group;
  Window<float> inbox, src, out;
  std::size_t rounds;
  template <Block B>
  SYM_FN bool three_signals(B& block) const {
    const Team& team = group.team;
    const Signals& steps = group.channel.steps;
    block.signal(steps, 0, team);
    for (int hop = 1; hop < team.size(); ++hop) {
      block.signal(steps, 0, team.pe((team.rank() + hop) % team.size()));
    }
    block.signal(steps, 0, team);
    if (!block.wait_until(steps, 0, team)) return false;
    for (int hop = 1; hop < team.size(); ++hop) {
      if (!block.wait_until(steps, 0, team.only((team.rank() + hop) % team.size()))) return false;
    }
    return block.wait_until(steps, 0, team);
  }
  // Message `k` of the PE of `rank`.
  SYM_HD Range message(int rank, std::size_t k) const {
    return Range{(static_cast<std::size_t>(rank) * 2 * rounds + k) * n, n};
  }
  template <Block B>
  SYM_FN void send(B& block, std::size_t k) const {
    const Team& team = group.team;
    for (int hop = 1; hop < team.size(); ++hop) {
      const int peer = team.pe((team.rank() + hop) % team.size());
      block.fence(peer);  // a message does not overtake the one before
      block.put_signal(inbox, src, message(team.rank(), k), group.channel.steps, 1, peer);
    }
  }
  template <Block B>
  SYM_FN void keep(B& block, int rank, std::size_t k) const {
    block.transform(out, message(rank, k), detail::Identity{}, inbox);
  }
  template <Block B>
  SYM_FN bool two_messages(B& block, std::size_t round) const {
    const Team& team = group.team;
    const Signals& steps = group.channel.steps;
    send(block, 2 * round);
    if (!block.wait_until(steps, 1, team)) return false;
    for (int hop = 1; hop < team.size(); ++hop) {
      keep(block, (team.rank() + hop) % team.size(), 2 * round);
    }
    send(block, 2 * round + 1);
    for (int hop = 1; hop < team.size(); ++hop) {
      const int rank = (team.rank() + hop) % team.size();
      if (!block.wait_until(steps, 1, team.only(rank))) return false;
      keep(block, rank, 2 * round + 1);
    }
    return true;
  }
  template <Block B>
  SYM_FN void operator()(B& block) const {
    block.enter(group.channel);
    for (std::size_t round = 0; round < rounds; ++round) {
      if (!three_signals(block) || !two_messages(block, round)) return;
    }
    barrier(block, group);
    block.leave(group.channel);
  }
};

// A signal that was lost leaves a wait to expire; one that was not consumed shows in the table.
template <class W>
void mixed_teams(W& world, Errors& errors) {
  constexpr std::size_t rounds = 3;
  const int pes = world.n_pes();
  const std::size_t total = static_cast<std::size_t>(pes) * 2 * rounds * MixedTeams::n;
  const auto inbox = world.template allocate<float>(total);
  const auto src = world.template allocate<float>(total);
  const auto out = world.template allocate<float>(total);
  const Group group{world.channel({static_cast<int>(MixedTeams::rows)}), world.team()};
  write_all(world, src, values<float>({1, world.pe(), 1}, total));
  write_all(world, out, std::vector<float>(total));
  world.launch(launch_of("mixed"), MixedTeams{group, inbox, src, out, rounds});
  std::vector<float> wanted;
  std::vector<std::uint64_t> counts[MixedTeams::rows];
  for (int pe = 0; pe < pes; ++pe) {
    const bool self = pe == world.pe();
    const std::vector<float> all = values<float>({1, pe, 1}, total);
    const std::size_t size = total / static_cast<std::size_t>(pes);
    for (std::size_t i = wanted.size(), end = i + size; i < end; ++i) {
      wanted.push_back(self ? 0.0F : all[i]);
    }
    counts[0].push_back(self ? 0 : 3 * rounds);
    counts[1].push_back(self ? 0 : 2 * rounds);
  }
  std::vector<std::uint64_t> table = counts[0];
  table.insert(table.end(), counts[1].begin(), counts[1].end());
  expect_equal(errors, who(world, "messages"), read_all(world, out, total), wanted);
  const Signals& steps = group.channel.steps;
  expect_equal(errors, who(world, "sent"), read_all(world, steps.sent, table.size()), table);
  expect_equal(errors, who(world, "seen"), read_all(world, steps.seen, table.size()), table);
}

template <class W>
std::vector<Case<W>> signal_cases() {
  return {{"counters", {1, 2, 5}, count_up<W>},
          {"mixed_teams", {2, 3, 8}, mixed_teams<W>, Effort::every_schedule, 2},
          {"fence_orders_signal", {1, 3, 8}, fence_orders_signal<W>},
          {"quiet_completes_for_all", {4}, quiet_completes_for_all<W>},
          {"fetch_add_u64", {1, 3}, tickets_are_unique<std::uint64_t, W>},
          {"fetch_add_i32", {5}, tickets_are_unique<std::int32_t, W>}};
}

}  // namespace sym::conformance
