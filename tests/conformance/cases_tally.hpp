// read, tally, scan and Scratch: bit for bit what a plain loop gives.
#pragma once

#include <algorithm>
#include <array>

#include "tests/conformance/harness.hpp"

namespace sym::conformance {

// An element function that knows its answer: fills.
struct Constant {
  std::uint32_t value;
  SYM_HD std::uint32_t operator()() const { return value; }
};
struct Same {
  template <class A>
  SYM_HD A operator()(A a) const {
    return a;
  }
};
struct UpTo16 {
  template <class A>
  SYM_HD A operator()(A a) const {
    return static_cast<A>((a + 15) / 16 * 16);
  }
};

inline LaunchConfig scratch_launch(const char* name, std::size_t scratch_bytes, int blocks = 1) {
  LaunchConfig config = launch_of(name, blocks, 0, false);
  config.scratch_bytes = scratch_bytes;
  return config;
}

// --- tally ---------------------------------------------------------------------------------------

inline constexpr std::uint32_t tally_start = 5;  // of every count: tally adds

// Block b counts the keys of row b, in scratch of its own; `places` may be empty.
template <class K, class P>
struct TallyRows {
  K keys;
  P places;
  Window<std::uint32_t> counts;
  Range range;  // of a row
  std::size_t row, bins;
  bool with_places;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    const auto index = static_cast<std::size_t>(block.index());
    const Scratch<std::uint32_t> bin{16, bins};
    block.transform(bin, bin.all(), Constant{tally_start});
    if (with_places) {
      block.tally(bin, keys.at(index * row), range, places.at(index * row));
    } else {
      block.tally(bin, keys.at(index * row), range);
    }
    block.transform(counts.at(index * bins), bin.all(), Same{}, bin);
  }
};

struct TallyShape {
  std::size_t first, n, bins;
  bool all_equal;
};

// Of the bins there are, and some that are none: -1 and beyond the last.
inline std::vector<std::int32_t> keys_of(const TallyShape& shape, int pe, std::size_t n) {
  std::vector<std::int32_t> keys(n);
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint64_t hash = mixed(mixed(static_cast<std::uint64_t>(pe) + shape.n) ^ i);
    keys[i] = static_cast<std::int32_t>(hash % (shape.bins + 3)) - 1;
    if (shape.all_equal) keys[i] = static_cast<std::int32_t>(shape.bins) - 1;
  }
  return keys;
}

template <class K, class P, class W>
void tally_one_shape(W& world, Errors& errors, const TallyShape& shape, K keys, P places) {
  constexpr int blocks = 3;
  const std::size_t row = shape.first + shape.n + 2;
  const std::size_t all = blocks * row;
  const auto counts = world.template allocate_control<std::uint32_t>(blocks * shape.bins);
  const std::vector<std::int32_t> key = keys_of(shape, world.pe(), all);
  std::vector<std::uint32_t> count(blocks * shape.bins, tally_start);
  std::vector<std::uint32_t> place = poison<std::uint32_t>(all);
  for (std::size_t b = 0; b < blocks; ++b) {
    for (std::size_t i = shape.first; i < shape.first + shape.n; ++i) {
      const std::int32_t k = key[b * row + i];
      if (k < 0 || static_cast<std::size_t>(k) >= shape.bins) continue;
      place[b * row + i] = count[b * shape.bins + static_cast<std::size_t>(k)]++;
    }
  }
  const std::string what = std::to_string(shape.n) + " keys of " + std::to_string(shape.bins);
  write_all(world, keys, key);
  write_all(world, places, poison<std::uint32_t>(all));
  for (const bool with_places : {true, false}) {
    write_all(world, counts, poison<std::uint32_t>(count.size()));
    world.launch(scratch_launch("tally", 16 + shape.bins * sizeof(std::uint32_t), blocks),
                 TallyRows<K, P>{keys, places, counts, Range{shape.first, shape.n}, row, shape.bins,
                                 with_places});
    expect_equal(errors, who(world, what + ", counts"), read_all(world, counts, count.size()),
                 count);
    expect_equal(errors, who(world, what + ", places"), read_all(world, places, all), place);
  }
  world.free(counts);
}

template <class W>
void tallies(W& world, Errors& errors) {
  constexpr std::size_t most = 3 * 1600;
  const auto keys = world.template allocate_control<std::int32_t>(most);
  const auto places = world.template allocate_control<std::uint32_t>(most);
  const auto local_keys = world.template local<std::int32_t>(most);
  const auto local_places = world.template local<std::uint32_t>(most);
  constexpr std::array<TallyShape, 8> shapes{{{0, 0, 4, false},
                                              {0, 1, 1, false},
                                              {0, 31, 7, false},
                                              {5, 64, 64, true},
                                              {3, 513, 16, false},
                                              {1, 1024, 300, false},
                                              {0, 1500, 256, false},
                                              {7, 1500, 9, true}}};
  for (const TallyShape& shape : shapes) {
    tally_one_shape(world, errors, shape, keys, places);
    tally_one_shape(world, errors, shape, local_keys, local_places);
  }
}

// Two tallies in a row into the same counts go on where the first ended: places in scratch.
struct TallyTwice {
  Window<std::int32_t> keys;
  Window<std::uint32_t> places;
  std::size_t n;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    const Scratch<std::uint32_t> bin{0, 4};
    const Scratch<std::uint32_t> place{16, n};
    block.transform(bin, bin.all(), Constant{0});
    block.tally(bin, keys, Range{0, n / 2}, place);
    block.tally(bin, keys, Range{n / 2, n - n / 2}, place);
    block.transform(places, Range{0, n}, Same{}, place);
  }
};

template <class W>
void tally_twice(W& world, Errors& errors) {
  constexpr std::size_t n = 301;
  const auto keys = world.template allocate_control<std::int32_t>(n);
  const auto places = world.template allocate_control<std::uint32_t>(n);
  std::vector<std::int32_t> key(n);
  std::vector<std::uint32_t> wanted(n);
  std::array<std::uint32_t, 4> count{};
  for (std::size_t i = 0; i < n; ++i) {
    key[i] = static_cast<std::int32_t>(mixed(i) % 4);
    wanted[i] = count[static_cast<std::size_t>(key[i])]++;
  }
  write_all(world, keys, key);
  world.launch(scratch_launch("twice", 16 + n * sizeof(std::uint32_t)),
               TallyTwice{keys, places, n});
  expect_equal(errors, who(world, "places"), read_all(world, places, n), wanted);
}

// --- scan and read -------------------------------------------------------------------------------

// Window to window, in place, and through scratch; the total goes to `totals`, by way of read.
template <class T>
struct Scans {
  Window<T> src, dst, in_place;
  Window<T> totals;
  Range range;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    const T first = block.scan(dst, src, range, UpTo16{});
    const T second = block.scan(in_place, in_place, range, Same{});
    const Scratch<T> work{64, range.end()};
    const Scratch<T> total{0, 2};
    block.transform(work, range, Same{}, src);
    const T third = block.scan(work, work, range, UpTo16{});
    block.transform(total, Range{0, 2}, Constant{static_cast<std::uint32_t>(third)});
    block.sync();
    block.put_value(totals, 0, first, block.pe());
    block.put_value(totals, 1, second, block.pe());
    block.put_value(totals, 2, block.read(total, 1), block.pe());
    if (!range.empty()) block.put_value(totals, 3, block.read(work, range.end() - 1), block.pe());
    if (!range.empty()) block.put_value(totals, 4, block.read(src, range.first), block.pe());
    block.quiet();
  }
};

template <class T, class W>
void scans(W& world, Errors& errors) {
  constexpr std::size_t most = 1500;
  const auto src = world.template allocate_control<T>(most);
  const auto dst = world.template allocate_control<T>(most);
  const auto in_place = world.template allocate_control<T>(most);
  const auto totals = world.template allocate_control<T>(5);
  std::vector<T> data(most);
  for (std::size_t i = 0; i < most; ++i) {
    data[i] = static_cast<T>(mixed(i + static_cast<std::size_t>(world.pe())) % 50);
  }
  write_all(world, src, data);
  constexpr std::array<Range, 7> ranges{
      {{0, 0}, {0, 1}, {3, 5}, {0, 33}, {1, 512}, {7, 1024}, {0, 1500}}};
  for (const Range& range : ranges) {
    std::vector<T> wanted = poison<T>(most);
    std::vector<T> plain = data;
    std::vector<T> total(5, T{0});
    for (std::size_t i = range.first; i < range.end(); ++i) {
      wanted[i] = total[0];
      plain[i] = total[1];
      total[3] = total[0];  // the last one
      total[4] = data[range.first];
      total[0] = static_cast<T>(total[0] + UpTo16{}(data[i]));
      total[1] = static_cast<T>(total[1] + data[i]);
    }
    total[2] = total[0];
    write_all(world, dst, poison<T>(most));
    write_all(world, in_place, data);
    write_all(world, totals, std::vector<T>(5, T{0}));
    world.launch(scratch_launch("scan", 64 + most * sizeof(T)),
                 Scans<T>{src, dst, in_place, totals, range});
    const std::string what = "scan of " + std::to_string(range.count);
    expect_equal(errors, who(world, what), read_all(world, dst, most), wanted);
    expect_equal(errors, who(world, what + " in place"), read_all(world, in_place, most), plain);
    expect_equal(errors, who(world, what + ", totals"), read_all(world, totals, 5), total);
  }
}

// sum and max over scratch, and scratch as one source of several.
struct ScratchOperands {
  Window<float> src, dst, answers;
  std::size_t n;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    const Scratch<float> work{16, n};
    block.transform(work, work.all(), Same{}, src);
    block.transform(work, work.all(), Sum2{}, work, src);
    block.transform(dst, work.all(), Sum2{}, src, work);
    block.sync();
    block.put_value(answers, 0, block.sum(work, Range{1, n - 1}, Same{}), block.pe());
    block.put_value(answers, 1, block.max(work, Range{1, n - 1}, Same{}), block.pe());
    block.quiet();
  }
  struct Sum2 {
    SYM_HD float operator()(float a, float b) const { return a + b; }
  };
};

template <class W>
void scratch_operands(W& world, Errors& errors) {
  constexpr std::size_t n = 777;
  const auto src = world.template allocate<float>(n);
  const auto dst = world.template allocate<float>(n);
  const auto answers = world.template allocate<float>(2);
  const std::vector<float> data = values<float>({1, world.pe(), 16}, n);  // 0..15: sums are exact
  std::vector<float> wanted(n);
  std::vector<float> answer{0, 0};
  for (std::size_t i = 0; i < n; ++i) {
    wanted[i] = 3 * data[i];
    if (i > 0) answer[0] += 2 * data[i];
    if (i > 0) answer[1] = std::max(answer[1], 2 * data[i]);
  }
  write_all(world, src, data);
  world.launch(scratch_launch("operands", 16 + n * sizeof(float)),
               ScratchOperands{src, dst, answers, n});
  expect_equal(errors, who(world, "transform"), read_all(world, dst, n), wanted);
  expect_equal(errors, who(world, "sum and max"), read_all(world, answers, 2), answer);
}

template <class W>
std::vector<Case<W>> tally_cases() {
  return {{"tally", {1, 3}, tallies<W>, Effort::worst_only},
          {"tally_twice", {1, 2}, tally_twice<W>},
          {"scan_u32", {2}, scans<std::uint32_t, W>},
          {"scan_u64", {1}, scans<std::uint64_t, W>},
          {"scratch_operands", {2}, scratch_operands<W>}};
}

}  // namespace sym::conformance
