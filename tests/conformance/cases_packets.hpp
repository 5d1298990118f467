// put_packets, reduce_packets and receive_packets: data with its own flag.
#pragma once

#include "core/collective/all_gather.hpp"
#include "core/collective/all_reduce.hpp"
#include "core/collective/all_to_all.hpp"
#include "core/collective/broadcast.hpp"
#include "core/collective/reduce_scatter.hpp"
#include "tests/conformance/harness.hpp"

namespace sym::conformance {

// One-shot all-reduce on any memory, several in one launch.
template <class In, class Out, class Op>
struct OneShots {
  Group group;
  In in;
  Out out;
  std::size_t n;
  int times;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    block.enter(group.channel);
    for (int i = 0; i < times; ++i) all_reduce_one_shot(block, group, in, out, n, Op{});
    block.leave(group.channel);
  }
};

// Local and symmetric memory, in place (what comes out is reduced again), an inbox of one granule.
template <class T, class W>
void packets_everywhere(W& world, Errors& errors) {
  constexpr std::size_t n = 131;
  const Group tiny{world.channel({2, 16}), world.team()};
  const Group ample{world.channel({1, 2048}), world.team()};
  const auto local = world.template local<T>(n);
  const auto result = world.template local<T>(n);
  const auto window = world.template allocate<T>(n);
  for (int iteration = 1; iteration <= 3; ++iteration) {
    const std::vector<T> mine = values<T>({iteration, world.pe(), world.n_pes()}, n);
    const std::vector<T> once = combined<T>(iteration, world.team(), n, 0, Sum{});
    std::vector<T> twice(n);
    for (std::size_t i = 0; i < n; ++i) {
      twice[i] = narrow<T>(
          static_cast<Accumulator<T>>(widen(once[i]) * static_cast<Accumulator<T>>(world.n_pes())));
    }
    write_all(world, local, mine);
    write_all(world, window, mine);
    write_all(world, result, poison<T>(n));
    world.launch(launch_of("tiny", 2),
                 OneShots<Local<T>, Local<T>, Sum>{tiny, local, result, n, 3});
    world.launch(launch_of("ample"),
                 OneShots<Window<T>, Window<T>, Sum>{ample, window, window, n, 2});
    world.launch(launch_of("tiny", 2), OneShots<Local<T>, Local<T>, Sum>{tiny, local, local, n, 1});
    expect_equal(errors, who(world, "local"), read_all(world, result, n), once);
    expect_equal(errors, who(world, "window, in place, twice"), read_all(world, window, n), twice);
    expect_equal(errors, who(world, "local, in place"), read_all(world, local, n), once);
  }
}

enum class Exchange { all_gather, all_to_all, reduce_scatter };

// Two in one launch: the second sends what the first has brought where the result is the source.
template <Exchange exchange, class In, class Out>
struct ExchangesByPackets {
  Group group;
  In in;
  Out out;
  std::size_t n;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    block.enter(group.channel);
    for (int i = 0; i < 2; ++i) {
      if constexpr (exchange == Exchange::all_gather) all_gather_one_shot(block, group, in, out, n);
      if constexpr (exchange == Exchange::all_to_all) all_to_all_one_shot(block, group, in, out, n);
      if constexpr (exchange == Exchange::reduce_scatter)
        reduce_scatter_one_shot(block, group, in, out, n, Max{});
    }
    block.leave(group.channel);
  }
};

// n elements of every rank's values, from element `first` of them on.
template <class T>
std::vector<T> gathered(int iteration, const Team& team, std::size_t n, std::size_t first) {
  std::vector<T> all;
  for (int rank = 0; rank < team.size(); ++rank) {
    const std::vector<T> row = values<T>({iteration, team.pe(rank), team.size()}, n, first);
    all.insert(all.end(), row.begin(), row.end());
  }
  return all;
}

inline LaunchConfig early_launch_of(const char* name) {
  LaunchConfig config = launch_of(name, 2);
  config.early = true;
  return config;
}

// Local and symmetric memory, the rank's part in place, rows that are aligned to nothing, and a
// team in another order than the PEs.
template <class T, class W>
void exchanges_everywhere(W& world, Errors& errors) {
  constexpr std::size_t n = 133;
  std::vector<int> members;
  for (int pe = world.n_pes(); pe-- > 0;) members.push_back(pe);
  const Team team = world.team(members);
  const Group group{world.channel({2, 48}), team};
  const auto size = static_cast<std::size_t>(team.size());
  const std::size_t first = static_cast<std::size_t>(team.rank()) * n;
  const auto local = world.template local<T>(size * n + 1);
  const auto other = world.template local<T>(size * n);
  const auto window = world.template allocate<T>(size * n);
  for (int iteration = 1; iteration <= 2; ++iteration) {
    const Origin mine{iteration, world.pe(), team.size()};
    const std::vector<T> all = gathered<T>(iteration, team, n, 0);
    write_all(world, window, poison<T>(size * n));
    write_all(world, window.at(first), values<T>(mine, n));
    world.launch(early_launch_of("gather"),
                 ExchangesByPackets<Exchange::all_gather, Window<T>, Window<T>>{
                     group, window.at(first), window, n});
    expect_equal(errors, who(world, "all_gather in place"), read_all(world, window, size * n), all);

    write_all(world, local, poison<T>(size * n + 1));
    write_all(world, other, values<T>(mine, n));
    world.launch(
        launch_of("gather", 2),
        ExchangesByPackets<Exchange::all_gather, Local<T>, Local<T>>{group, other, local.at(1), n});
    expect_equal(errors, who(world, "all_gather, local"), read_all(world, local.at(1), size * n),
                 all);
    expect_equal(errors, who(world, "before its output"), read_all(world, local, 1), poison<T>(1));

    write_all(world, local.at(1), values<T>(mine, size * n));
    write_all(world, other, poison<T>(size * n));
    world.launch(
        launch_of("exchange", 2),
        ExchangesByPackets<Exchange::all_to_all, Local<T>, Local<T>>{group, local.at(1), other, n});
    expect_equal(errors, who(world, "all_to_all, local"), read_all(world, other, size * n),
                 gathered<T>(iteration, team, n, first));

    write_all(world, window, values<T>(mine, size * n));
    world.launch(early_launch_of("scatter"),
                 ExchangesByPackets<Exchange::reduce_scatter, Window<T>, Window<T>>{
                     group, window, window.at(first), n});
    expect_equal(errors, who(world, "reduce_scatter in place"),
                 read_all(world, window.at(first), n),
                 combined<T>(iteration, team, n, first, Max{}));
  }
}

// Broadcasts from every rank in turn, three from each, with an all_gather behind them and no
// barrier: only the root sends data, and nobody may run ahead of one who has not read.
template <class In, class Out>
struct BroadcastsByPackets {
  Group group;
  In in;
  Out out, all;
  std::size_t n;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    block.enter(group.channel);
    for (int root = 0; root < group.team.size(); ++root) {
      const Out place = out.at(static_cast<std::size_t>(root) * n);
      for (int i = 0; i < 3; ++i) broadcast_one_shot(block, group, in, place, n, root);
      all_gather_one_shot(block, group, in, all, n);
    }
    block.leave(group.channel);
  }
};

// Local and symmetric memory, in place, and a team in another order than the PEs that not all are
// of.
template <class T, class W>
void broadcasts_everywhere(W& world, Errors& errors) {
  constexpr std::size_t n = 133;
  std::vector<int> members;
  for (int pe = world.n_pes(); pe-- > (world.n_pes() > 3 ? 1 : 0);) members.push_back(pe);
  const Team team = world.team(members);
  const Group group{world.channel({2, 48}), team};
  const auto size = static_cast<std::size_t>(team.size());
  const auto in = world.template local<T>(n);
  const auto out = world.template local<T>(size * n);
  const auto all = world.template local<T>(size * n);
  const auto window = world.template allocate<T>(size * n);
  const auto gather = world.template allocate<T>(size * n);
  if (!team.contains_self()) return;
  const std::size_t own = static_cast<std::size_t>(team.rank()) * n;
  for (int iteration = 1; iteration <= 2; ++iteration) {
    const std::vector<T> mine = values<T>({iteration, world.pe(), team.size()}, n);
    const std::vector<T> wanted = gathered<T>(iteration, team, n, 0);
    write_all(world, in, mine);
    write_all(world, out, poison<T>(size * n));
    world.launch(launch_of("broadcasts", 2),
                 BroadcastsByPackets<Local<T>, Local<T>>{group, in, out, all, n});
    expect_equal(errors, who(world, "broadcasts, local"), read_all(world, out, size * n), wanted);
    expect_equal(errors, who(world, "all_gather"), read_all(world, all, size * n), wanted);

    write_all(world, window, poison<T>(size * n));
    write_all(world, window.at(own), mine);
    world.launch(early_launch_of("broadcasts"), BroadcastsByPackets<Window<T>, Window<T>>{
                                                    group, window.at(own), window, gather, n});
    expect_equal(errors, who(world, "broadcasts in place"), read_all(world, window, size * n),
                 wanted);
    expect_equal(errors, who(world, "all_gather"), read_all(world, gather, size * n), wanted);
  }
}

template <class W>
std::vector<Case<W>> packets_cases() {
  return {{"f32", {1, 2, 5, 8}, packets_everywhere<float, W>},
          {"i64", {3}, packets_everywhere<std::int64_t, W>},
          {"u8", {2}, packets_everywhere<std::uint8_t, W>},
          {"exchanges_bf16", {2, 3, 8}, exchanges_everywhere<bf16, W>},
          {"exchanges_f64", {1, 2, 5}, exchanges_everywhere<double, W>},
          {"broadcasts_bf16", {1, 2, 3, 5}, broadcasts_everywhere<bf16, W>},
          {"broadcasts_u8", {3}, broadcasts_everywhere<std::uint8_t, W>},
          {"exchanges_u8", {3}, exchanges_everywhere<std::uint8_t, W>}};
}

}  // namespace sym::conformance
