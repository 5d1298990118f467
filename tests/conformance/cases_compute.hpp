// reduce, transform, sum and max: the stated order, bit for bit.
#pragma once

#include <algorithm>
#include <array>

#include "core/collective/barrier.hpp"
#include "core/collective/share.hpp"
#include "tests/conformance/harness.hpp"

namespace sym::conformance {

template <class D, class T, class Op>
struct ReduceFrom {
  Group group;  // all PEs
  Team team;    // those whose data is reduced; the caller need not be one of them
  D dst;
  Window<T> src;
  Range range;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    block.enter(group.channel);
    if (!barrier(block, group)) return;
    block.reduce(dst, src, chunk(range, block.index(), block.count()), team, Op{});
    barrier(block, group);
    block.leave(group.channel);
  }
};

template <class T, class Op, class W>
void reduce_one_op(W& world, Errors& errors) {
  constexpr std::size_t n = 1003;
  const auto src = world.template allocate<T>(n + 3);
  const auto window = world.template allocate<T>(n + 3);
  const auto local = world.template local<T>(n + 3);
  const Group group{world.channel({2}), world.team()};
  const int pes = world.n_pes();
  std::vector<int> reversed;
  for (int pe = pes - 1; pe >= 0; --pe) reversed.push_back(pe);
  const std::array<Team, 3> teams{world.team(),
                                  Team::strided(world.pe(), 1 % pes, 2, std::max(1, pes / 2)),
                                  world.team(reversed)};
  write_all(world, src, rough<T>(world.pe(), n + 3));
  for (const Team& team : teams) {
    std::vector<std::vector<T>> data;
    for (int rank = 0; rank < team.size(); ++rank) data.push_back(rough<T>(team.pe(rank), n + 3));
    std::vector<T> wanted(n);
    for (std::size_t i = 0; i < n; ++i) {
      auto total = widen(data[0][i + 3]);
      for (int rank = 1; rank < team.size(); ++rank) {
        total = Op{}.combine(total, widen(data[static_cast<std::size_t>(rank)][i + 3]));
      }
      wanted[i] = narrow<T>(Op{}.finish(total, team.size()));
    }
    world.launch(launch_of("reduce", 2),
                 ReduceFrom<Window<T>, T, Op>{group, team, window.at(1), src.at(3), {0, n}});
    world.launch(launch_of("reduce", 2),
                 ReduceFrom<Local<T>, T, Op>{group, team, local, src.at(3), {0, n}});
    expect_equal(errors, who(world, Op::name), read_all(world, window.at(1), n), wanted);
    expect_equal(errors, who(world, Op::name), read_all(world, local, n), wanted);
  }
}

template <class T, class W>
void reduce_in_order(W& world, Errors& errors) {
  reduce_one_op<T, Sum>(world, errors);
  reduce_one_op<T, Prod>(world, errors);
  reduce_one_op<T, Max>(world, errors);
  reduce_one_op<T, Min>(world, errors);
  reduce_one_op<T, Avg>(world, errors);
}

struct Axpy {
  template <class A>
  SYM_HD A operator()(A a, A b) const {
    return static_cast<A>(a * static_cast<A>(3) + b);
  }
};

// In place with two sources, to local memory, and between types.
template <class T>
struct Transforms {
  Window<T> x, y;
  Local<T> z;
  Local<float> widened;
  Local<f16> narrowed;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    const Range part = chunk(x.all(), block.index(), block.count());
    block.transform(x, part, Axpy{}, x, y);
    block.transform(z, part, Axpy{}, y, x);
    block.sync();  // other types from here on, so other lanes
    block.transform(widened, part, detail::Identity{}, z);
    block.sync();
    block.transform(narrowed, part, detail::Identity{}, widened);
  }
};

template <class T, class W>
void transforms(W& world, Errors& errors) {
  constexpr std::size_t n = 65536;  // for 16-bit types every value there is
  const auto x = world.template allocate<T>(n);
  const auto y = world.template allocate<T>(n);
  const auto z = world.template local<T>(n);
  const auto widened = world.template local<float>(n);
  const auto narrowed = world.template local<f16>(n);
  std::vector<T> xs = rough<T>(world.pe(), n);
  std::vector<T> ys(n);
  for (std::size_t i = 0; i < n; ++i) {
    if constexpr (sizeof(T) == 2) ys[i] = T{static_cast<std::uint16_t>(i)};
    if constexpr (sizeof(T) != 2) ys[i] = static_cast<T>(mixed(i) % 100);
  }
  write_all(world, x, xs);
  write_all(world, y, ys);
  world.launch(launch_of("transform", 3), Transforms<T>{x, y, z, widened, narrowed});
  std::vector<T> zs(n);
  std::vector<float> wide(n);
  std::vector<f16> thin(n);
  for (std::size_t i = 0; i < n; ++i) {
    xs[i] = narrow<T>(Axpy{}(widen(xs[i]), widen(ys[i])));
    zs[i] = narrow<T>(Axpy{}(widen(ys[i]), widen(xs[i])));
    wide[i] = static_cast<float>(widen(zs[i]));
    thin[i] = to_f16(wide[i]);
    if (wide[i] != wide[i]) wide[i] = 0;  // which NaN an addition gives is the machine's choice
  }
  std::vector<float> got = read_all(world, widened, n);
  for (float& one : got) one = one != one ? 0 : one;
  expect_equal(errors, who(world, "in place"), read_all(world, x, n), xs);
  expect_equal(errors, who(world, "to local"), read_all(world, z, n), zs);
  expect_equal(errors, who(world, "widened"), got, wide);
  expect_equal(errors, who(world, "narrowed"), read_all(world, narrowed, n), thin);
}

template <class T>
struct Folds {
  Window<T> src;
  Window<Accumulator<T>> answers;
  std::size_t n;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    block.put_value(answers, 0, block.sum(src, Range{1, n}, detail::Identity{}), block.pe());
    block.put_value(answers, 1, block.max(src, Range{1, n}, detail::Identity{}), block.pe());
    block.quiet();
  }
};

// The documented tree, written down once more: lane l of 1024 adds elements 8l..8l+7, 8(l+1024)...
template <class A, class F>
A folded(const std::vector<A>& x, F f) {
  std::vector<std::vector<A>> lanes(1024);
  for (std::size_t i = 0; i < x.size(); ++i) {
    std::vector<A>& lane = lanes[i / 8 % 1024];
    if (lane.empty()) {
      lane.push_back(x[i]);
    } else {
      lane[0] = f(lane[0], x[i]);
    }
  }
  for (std::size_t half = 512; half > 0; half /= 2) {
    for (std::size_t l = 0; l < half; ++l) {
      if (lanes[l + half].empty()) continue;
      if (lanes[l].empty()) {
        lanes[l] = lanes[l + half];
      } else {
        lanes[l][0] = f(lanes[l][0], lanes[l + half][0]);
      }
    }
  }
  return lanes[0].empty() ? A{} : lanes[0][0];
}

template <class T, class W>
void folds(W& world, Errors& errors) {
  using A = Accumulator<T>;
  constexpr std::size_t most = 20001;
  const auto src = world.template allocate<T>(most);
  const auto answers = world.template allocate<A>(2);
  const std::vector<T> data = rough<T>(world.pe(), most);
  write_all(world, src, data);
  for (std::size_t n : {0, 1, 7, 9, 100, 8192, 8193, 20000}) {
    world.launch(launch_of("fold"), Folds<T>{src, answers, n});
    std::vector<A> x;
    for (std::size_t i = 0; i < n; ++i) x.push_back(widen(data[i + 1]));
    const std::vector<A> wanted{folded(x, [](A a, A b) { return static_cast<A>(a + b); }),
                                folded(x, [](A a, A b) { return std::max(a, b); })};
    expect_equal(errors, who(world, "folds of " + std::to_string(n)), read_all(world, answers, 2),
                 wanted);
  }
}

template <class W>
std::vector<Case<W>> compute_cases() {
  return {{"reduce_bf16", {1, 2, 5, 8}, reduce_in_order<bf16, W>},
          {"reduce_f32", {3}, reduce_in_order<float, W>},
          {"reduce_i32", {7}, reduce_in_order<std::int32_t, W>},
          {"transform_bf16", {1}, transforms<bf16, W>},
          {"transform_f16", {1}, transforms<f16, W>},
          {"transform_u8", {1}, transforms<std::uint8_t, W>},
          {"folds_f32", {2}, folds<float, W>},
          {"folds_bf16", {1}, folds<bf16, W>},
          {"folds_i64", {1}, folds<std::int64_t, W>}};
}

}  // namespace sym::conformance
