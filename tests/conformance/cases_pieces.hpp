// weighted_sum, warps and require: what dispatch and combine are made of.
#pragma once

#include <array>
#include <cmath>

#include "core/collective/barrier.hpp"
#include "core/collective/share.hpp"
#include "tests/conformance/cases_tally.hpp"

namespace sym::conformance {

// --- weighted_sum --------------------------------------------------------------------------------

// Term j is of some PE, from some element on; every fourth is none. Weights and data are rough, so
// that almost every step is rounded, and the order shows.
struct SomeTerms {
  int pe, pes;
  SYM_HD Term operator()(int j) const {
    if ((j + pe) % 4 == 3) return Term{};
    return Term{(pe + 2 * j) % pes, static_cast<std::size_t>(j * 7 % 5),
                static_cast<float>(j * 37 % 11 - 5) * 0.3F};
  }
};
inline constexpr int most_terms = 9;
inline constexpr std::size_t terms_row = 1024;  // elements of one result

// The sums of 0 to 9 terms, each in a row of its own.
template <class T, class D>
struct WeightedSums {
  Group group;
  D dst;
  Window<T> src;
  Range range;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    block.enter(group.channel);
    if (!barrier(block, group)) return;
    const Range part = chunk(range, block.index(), block.count());
    for (int n = 0; n <= most_terms; ++n) {
      block.weighted_sum(dst.at(static_cast<std::size_t>(n) * terms_row), src, part, n,
                         SomeTerms{block.pe(), block.n_pes()});
    }
    barrier(block, group);
    block.leave(group.channel);
  }
};

template <class T>
T weighted(const std::vector<std::vector<T>>& data, const SomeTerms& terms, int n, std::size_t i) {
  Accumulator<T> total = 0;
  for (int j = 0; j < n; ++j) {
    const Term term = terms(j);
    if (term.pe < 0) continue;
    const T& x = data[static_cast<std::size_t>(term.pe)][term.first + i];
    total = std::fma(static_cast<Accumulator<T>>(term.weight), widen(x), total);
  }
  return narrow<T>(total);
}

template <class T, class W>
void weighted_sums(W& world, Errors& errors) {
  constexpr std::size_t most = (most_terms + 1) * terms_row;
  const auto src = world.template allocate<T>(terms_row + 5);
  const auto window = world.template allocate<T>(most);
  const auto local = world.template local<T>(most);
  const Group group{world.channel({2}), world.team()};
  std::vector<std::vector<T>> data;
  for (int pe = 0; pe < world.n_pes(); ++pe) data.push_back(rough<T>(pe, terms_row + 5));
  write_all(world, src, data[static_cast<std::size_t>(world.pe())]);
  for (const Range& range :
       {Range{0, 0}, Range{1, 1}, Range{3, 17}, Range{8, 256}, Range{5, 1003}}) {
    std::vector<T> wanted = poison<T>(most);
    for (int n = 0; n <= most_terms; ++n) {
      for (std::size_t i = range.first; i < range.end(); ++i) {
        wanted[static_cast<std::size_t>(n) * terms_row + i] =
            weighted(data, SomeTerms{world.pe(), world.n_pes()}, n, i);
      }
    }
    write_all(world, window, poison<T>(most));
    write_all(world, local, poison<T>(most));
    world.launch(launch_of("to window", 2), WeightedSums<T, Window<T>>{group, window, src, range});
    world.launch(launch_of("to local", 2), WeightedSums<T, Local<T>>{group, local, src, range});
    const std::string what = "sums of " + std::to_string(range.count);
    expect_equal(errors, who(world, what), read_all(world, window, most), wanted);
    expect_equal(errors, who(world, what + ", local"), read_all(world, local, most), wanted);
  }
}

// --- warps ---------------------------------------------------------------------------------------

// Piece i of PE p puts lengths[i] elements of its row i to row (p, i) of PE (p + i) % P. Then the
// same with rows that the piece computes itself, in its own part of `work`.
template <class T>
struct Scatters {
  Group group;
  Window<std::uint32_t> lengths;
  Window<T> src, dst;
  Local<T> work;
  std::size_t n, row;
  bool computed;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    block.enter(group.channel);
    if (!barrier(block, group)) return;
    const auto self = static_cast<std::size_t>(block.pe());
    block.warps(n, [&](auto& piece, std::size_t i) {
      const Range range{1, piece.read(lengths, i)};
      const int pe = static_cast<int>((self + i) % static_cast<std::size_t>(block.n_pes()));
      const Window<T> to = dst.at((self * n + i) * row);
      if (!computed) {
        piece.put(to, src.at(i * row), range, pe);
        return;
      }
      const Local<T> own = work.at(i * row);
      piece.weighted_sum(own, src, range, 2, Twice{pe, i * row});
      piece.put(to, own, range, pe);
    });
    block.quiet();
    barrier(block, group);
    block.leave(group.channel);
  }
  struct Twice {  // both terms of the same row of a peer: exact
    int pe;
    std::size_t first;
    SYM_HD Term operator()(int j) const { return Term{pe, first, j == 0 ? 0.5F : 1.5F}; }
  };
};

template <class T, class W>
void scatters(W& world, Errors& errors) {
  constexpr std::size_t most = 37;
  constexpr std::size_t row = 70;
  const int pes = world.n_pes();
  const auto rows = static_cast<std::size_t>(pes) * most;
  const auto lengths = world.template allocate_control<std::uint32_t>(most);
  const auto src = world.template allocate<T>(most * row);
  const auto dst = world.template allocate<T>(rows * row);
  const auto work = world.template local<T>(most * row);
  const Group group{world.channel({1}), world.team()};
  std::vector<std::uint32_t> length(most);
  for (std::size_t i = 0; i < most; ++i) length[i] = static_cast<std::uint32_t>(i * 29 % 68);
  std::vector<std::vector<T>> data;
  for (int pe = 0; pe < pes; ++pe) data.push_back(values<T>({2, pe, 4}, most * row));
  write_all(world, lengths, length);
  write_all(world, src, data[static_cast<std::size_t>(world.pe())]);
  for (const std::size_t n : {std::size_t{0}, std::size_t{1}, most}) {
    for (const bool computed : {false, true}) {
      std::vector<T> wanted = poison<T>(rows * row);
      for (std::size_t from = 0; from < static_cast<std::size_t>(pes); ++from) {
        for (std::size_t i = 0; i < n; ++i) {
          if ((from + i) % static_cast<std::size_t>(pes) != static_cast<std::size_t>(world.pe()))
            continue;
          for (std::size_t k = 1; k <= length[i]; ++k) {
            const auto& its = data[computed ? static_cast<std::size_t>(world.pe()) : from];
            const auto x = widen(its[i * row + k]);
            wanted[(from * n + i) * row + k] =
                narrow<T>(computed ? static_cast<Accumulator<T>>(2 * x) : x);
          }
        }
      }
      write_all(world, dst, poison<T>(rows * row));
      world.barrier();
      world.launch(launch_of("scatter"),
                   Scatters<T>{group, lengths, src, dst, work, n, row, computed});
      expect_equal(errors,
                   who(world, std::to_string(n) + (computed ? " computed pieces" : " pieces")),
                   read_all(world, dst, rows * row), wanted);
    }
  }
}

// --- what must hold ------------------------------------------------------------------------------

// The last PE refuses number 7 against 5.
struct Requires {
  bool refuse;
  Window<std::uint32_t> done;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    const bool holds = !refuse || block.pe() + 1 != block.n_pes();
    if (!block.require(holds, "tokens of one PE", 7, 5)) return;
    block.put_value(done, 0, std::uint32_t{1}, block.pe());
    block.quiet();
  }
};

template <class W>
void refuses(W& world) {
  const auto done = world.template allocate_control<std::uint32_t>(1);
  world.launch(launch_of("requires"), Requires{true, done});
  world.synchronize();
}

// Where what has failed can be recovered from: the launch after it works.
template <class W>
void refuses_and_recovers(W& world, Errors& errors) {
  const auto done = world.template allocate_control<std::uint32_t>(1);
  const bool refused_here = world.pe() + 1 == world.n_pes();
  std::string text = "nothing was refused";
  try {
    world.launch(launch_of("requires"), Requires{true, done});
    world.synchronize();
  } catch (const Failure& failure) {
    text = failure.what();
  }
  for (const char* part : {"tokens of one PE", "7", "5"}) {
    if (refused_here && text.find(part) == std::string::npos)
      errors.add(who(world, std::string("no '") + part + "' in: " + text));
  }
  world.recover();
  world.launch(launch_of("holds"), Requires{false, done});
  world.synchronize();
  expect_equal(errors, who(world, "after recovery"), read_all(world, done, 1),
               std::vector<std::uint32_t>{1});
}

// One element more than LaunchConfig::scratch_bytes holds.
struct Overruns {
  std::size_t n;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    const Scratch<std::uint32_t> work{0, n};
    block.transform(work, work.all(), Constant{1});
  }
};

template <class W>
void overruns_scratch(W& world) {
  world.launch(scratch_launch("overrun", 64), Overruns{16});
  world.synchronize();
  world.launch(scratch_launch("overrun", 64), Overruns{17});
  world.synchronize();
}

template <class W>
std::vector<Case<W>> pieces_cases() {
  return {{"weighted_sum_bf16", {1, 4}, weighted_sums<bf16, W>, Effort::worst_only},
          {"weighted_sum_f16", {2}, weighted_sums<f16, W>, Effort::worst_only},
          {"weighted_sum_f32", {3}, weighted_sums<float, W>},
          {"weighted_sum_f64", {2}, weighted_sums<double, W>, Effort::worst_only},
          {"warps_bf16", {1, 2, 5}, scatters<bf16, W>},
          {"warps_f32", {8}, scatters<float, W>, Effort::worst_only}};
}
// For backends whose World outlives a failure.
template <class W>
std::vector<Case<W>> require_cases() {
  return {{"refuses_and_recovers", {1, 3}, refuses_and_recovers<W>}};
}

}  // namespace sym::conformance
