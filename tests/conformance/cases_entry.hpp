// Host entry points: sym::all_reduce on ordinary memory and a stream.
#pragma once

#include "core/collective/entry.hpp"
#include "tests/conformance/harness.hpp"

namespace sym::conformance {

template <class T>
Local<const T> reading(Local<T> local, std::size_t n) {
  return Local<const T>{local.data, n};
}

// Smaller and larger than the staging windows (many rounds), in place and not, back to back.
template <class T, class Op, class W>
void entry_all_reduce(W& world, Errors& errors) {
  constexpr std::size_t most = 5003;
  StagedChannel<W> channel = staged_channel(world, {2, 1024});
  const auto in = world.template local<T>(most);
  const auto out = world.template local<T>(most);
  int iteration = 0;
  for (std::size_t n : {0, 1, 100, 512, 5003, 3}) {
    ++iteration;
    const Origin mine{iteration, world.pe(), world.n_pes()};
    write_all(world, in, values<T, Op>(mine, n));
    write_all(world, out, poison<T>(n));
    all_reduce(channel, reading(in, n), Local<T>{out.data, n}, Op{});
    all_reduce(channel, reading(in, n), Local<T>{in.data, n}, Op{}, 0);
    const std::vector<T> wanted = combined<T>(iteration, world.team(), n, 0, Op{});
    expect_equal(errors, who(world, std::to_string(n) + " elements"), read_all(world, out, n),
                 wanted);
    expect_equal(errors, who(world, std::to_string(n) + " in place"), read_all(world, in, n),
                 wanted);
  }
}

template <class W>
void entry_streams_and_teams(W& world, Errors& errors) {
  constexpr std::size_t n = 400;
  StagedChannel<W> first = staged_channel(world, {1, 512});
  StagedChannel<W> second = staged_channel(world, {2, 512});
  const auto a = world.template local<float>(n);
  const auto b = world.template local<float>(n);
  const Team odd = Team::strided(world.pe(), 1, 2, world.n_pes() / 2);
  for (int iteration = 1; iteration <= 2; ++iteration) {
    write_all(world, a, values<float>({iteration, world.pe(), world.n_pes()}, n));
    write_all(world, b, values<float>({iteration + 100, world.pe(), odd.size()}, n));
    all_reduce(first, reading(a, n), a, Sum{}, 1);
    if (odd.contains_self()) all_reduce(second, reading(b, n), b, Sum{}, 2, odd);
    world.synchronize();
    expect_equal(errors, who(world, "all"), read_all(world, a, n),
                 combined<float>(iteration, world.team(), n, 0, Sum{}));
    if (!odd.contains_self()) continue;
    expect_equal(errors, who(world, "odd"), read_all(world, b, n),
                 combined<float>(iteration + 100, odd, n, 0, Sum{}));
  }
}

template <class W>
void entry_refuses_other_counts(W& world, Errors& errors) {
  StagedChannel<W> channel = staged_channel(world, {1, 64});
  const auto in = world.template local<float>(8);
  try {
    all_reduce(channel, reading(in, 8), Local<float>{in.data, 7}, Sum{});
    errors.add("in and out of different counts were accepted");
  } catch (const UsageError&) {
  }
}

template <class W>
std::vector<Case<W>> entry_cases() {
  return {{"all_reduce_bf16", {1, 3, 8}, entry_all_reduce<bf16, Sum, W>},
          {"all_reduce_max_i32", {2}, entry_all_reduce<std::int32_t, Max, W>},
          {"all_reduce_u8", {5}, entry_all_reduce<std::uint8_t, Sum, W>},
          {"streams_and_teams", {4, 5}, entry_streams_and_teams<W>},
          {"refuses_other_counts", {2}, entry_refuses_other_counts<W>}};
}

}  // namespace sym::conformance
