// What the race detector makes of read, tally, scan, weighted_sum and Scratch; and that runs
// without data leave alone what has no storage.
#include <gmock/gmock.h>

#include "core/collective/barrier.hpp"
#include "tests/unit/check_desk.hpp"

namespace sym::check {
namespace {

using testing::HasSubstr;

TEST(ReadVerb, EveryLaneReadsSoOwnWritesNeedASync) {
  const auto program = [](bool sync) {
    return [sync](F& b, const Desk& d) {
      b.transform(d.numbers, Range{5, 1}, Zero{});  // the same range, but one lane wrote it
      if (sync) b.sync();
      (void)b.read(d.numbers, 5);
    };
  };
  EXPECT_EQ(found(program(true)).text, "");
  const Found wrong = found(program(false));
  EXPECT_EQ(wrong.kinds, "missing-sync");
  EXPECT_THAT(wrong.text, HasSubstr("transform then read of one block"));
  EXPECT_THAT(wrong.text, HasSubstr("every lane reads it"));
  EXPECT_EQ(found([](F& b, const Desk& d) {  // and the other way round
              (void)b.read(d.numbers, 5);
              b.transform(d.numbers, d.numbers.all(), Zero{});
            })
                .kinds,
            "missing-sync");
}

TEST(ReadVerb, OfWhatAPeerPutsIsARaceWithoutASignal) {
  const auto program = [](bool waits) {
    return [waits](F& b, const Desk& d) {
      if (b.pe() == 0) b.put_value(d.numbers, 3, std::uint32_t{9}, 1);
      if (b.pe() == 0) b.quiet();
      if (waits) barrier(b, d.group);
      if (b.pe() == 1) (void)b.read(d.numbers, 3);
    };
  };
  EXPECT_EQ(found(program(true)).text, "");
  EXPECT_EQ(found(program(false)).kinds, "race");
}

TEST(TallyVerb, BeginsAndEndsWithASync) {
  EXPECT_EQ(found([](F& b, const Desk& d) {
              b.transform(d.counts, d.counts.all(), Zero{});
              b.transform(d.keys, Range{0, 9}, Zero{});
              b.tally(d.counts, d.keys, Range{3, 20}, d.numbers);
              b.transform(d.counts, Range{1, 7}, Zero{});
              (void)b.scan(d.numbers, d.numbers, Range{0, 30}, Same{});
              (void)b.read(d.numbers, 2);
            }).text,
            "");
}

TEST(TallyVerb, ReadsKeysAndWritesPlaces) {
  const auto program = [](auto touched) {
    return [touched](F& b, const Desk& d) {
      b.transform(d.counts, d.counts.all(), Zero{});
      if (b.pe() == 0) b.put_value(touched(d), 3, {}, 1);
      if (b.pe() == 1) b.tally(d.counts, d.keys, Range{0, 8}, d.numbers);
    };
  };
  EXPECT_EQ(found(program([](const Desk& d) { return d.keys; })).kinds, "race");
  EXPECT_EQ(found(program([](const Desk& d) { return d.numbers; })).kinds, "race");
  EXPECT_EQ(found(program([](const Desk& d) { return d.numbers.at(8); })).kinds, "");
}

// A key that is left out has no place: whoever writes there is not in the way.
TEST(TallyVerb, LeavesPlacesAlone) {
  const auto program = [](std::size_t at) {
    return [at](F& b, const Desk& d) {
      b.transform(d.counts, d.counts.all(), Zero{});
      b.transform(d.keys, Range{3, 2}, [] { return std::int32_t{-1}; });
      b.transform(d.keys, Range{7, 1}, [] { return static_cast<std::int32_t>(n); });
      if (b.pe() == 0) b.put_value(d.numbers, at, std::uint32_t{1}, 1);
      if (b.pe() == 1) b.tally(d.counts, d.keys, Range{0, 8}, d.numbers);
    };
  };
  for (const std::size_t at : {0U, 2U, 5U, 6U}) EXPECT_EQ(found(program(at)).kinds, "race") << at;
  for (const std::size_t at : {3U, 4U, 7U}) EXPECT_EQ(found(program(at)).text, "") << at;
}

TEST(ScanVerb, ReadsAndWrites) {
  const auto program = [](std::size_t at) {
    return [at](F& b, const Desk& d) {
      if (b.pe() == 0) b.put_value(d.numbers, at, std::uint32_t{1}, 1);
      if (b.pe() == 1) (void)b.scan(d.numbers.at(16), d.numbers, Range{0, 8}, Same{});
    };
  };
  EXPECT_EQ(found(program(7)).kinds, "race");
  EXPECT_EQ(found(program(8)).kinds, "");
  EXPECT_EQ(found(program(23)).kinds, "race");
}

TEST(ScratchMemory, IsOfOneBlockAndLaneByLane) {
  EXPECT_EQ(found([](F& b, const Desk& d) {
              b.transform(d.scratch, all, Same{}, d.x);
              b.transform(d.scratch, all, Same{}, d.scratch);
              b.transform(d.y, all, Same{}, d.scratch);
            }).text,
            "");
  const Found wrong = found([](F& b, const Desk& d) {
    b.transform(d.scratch, all, Same{}, d.x);
    b.transform(d.y, Range{0, 9}, Same{}, d.scratch);
  });
  EXPECT_EQ(wrong.kinds, "missing-sync");
}

TEST(WeightedSum, ReadsPeersSoTheirWritesMustBeAcquired) {
  const auto program = [](bool waits) {
    return [waits](F& b, const Desk& d) {
      b.transform(d.x, all, Same{}, d.y);
      if (waits) barrier(b, d.group);
      b.weighted_sum(d.local, d.x, Range{4, 9}, 1, From{(b.pe() + 1) % 2});
    };
  };
  EXPECT_EQ(found(program(true)).text, "");
  const Found wrong = found(program(false));
  EXPECT_THAT(wrong.kinds, HasSubstr("race"));
  EXPECT_THAT(wrong.text, HasSubstr("weighted_sum"));
}

// What the terms are made of may be read by the term: the reports tell one from the other.
TEST(WeightedSum, TermsMayRead) {
  const auto program = [](bool in_piece) {
    return [in_piece](F& b, const Desk& d) {
      const auto sum = [&](auto& reader) {
        reader.weighted_sum(d.local, d.x, all, 2, [&](int j) {
          return Term{static_cast<int>(reader.read(d.numbers, static_cast<std::size_t>(j))), 0, 1};
        });
      };
      if (b.pe() == 1) b.put(d.x, d.y, all, 0);
      if (b.pe() == 0 && !in_piece) sum(b);
      if (b.pe() == 0 && in_piece) b.warps(1, [&](auto& piece, std::size_t) { sum(piece); });
    };
  };
  for (const bool in_piece : {false, true}) {
    const Found wrong = found(program(in_piece));
    EXPECT_EQ(wrong.kinds, "race");
    EXPECT_THAT(wrong.text, HasSubstr("weighted_sum")) << in_piece;
  }
}

TEST(WeightedSum, TermsOutOfTheWindowAreRefused) {
  const Found wrong = found([](F& b, const Desk& d) {
    b.weighted_sum(d.local, d.x, all, 1, From{0, 1});
  });
  EXPECT_THAT(wrong.kinds, HasSubstr("error"));
  EXPECT_THAT(wrong.text,
              HasSubstr("term 0 of weighted_sum is elements 1 to 65 of a window of 64"));
  EXPECT_THAT(wrong.text, HasSubstr("weighted_sum at "));
}

// Payload and local memory have addresses without bytes behind them; control and scratch have both.
TEST(WithoutData, PayloadIsNotTouchedAndControlIsComputed) {
  const auto policy = make_fifo();
  fiber::EngineOptions options;
  options.pes = 2;
  options.payload_storage = false;
  fiber::Engine engine(options, *policy, nullptr);
  std::uint32_t seen = 0;
  std::uint32_t total = 0;
  float of_payload = 1;
  fiber::run_worlds(engine, 0, [&](fiber::FiberWorld& world) {
    const auto x = world.allocate<float>(n);
    const auto keys = world.allocate_control<std::int32_t>(n);
    const auto numbers = world.allocate_control<std::uint32_t>(n);
    const auto local = world.local<float>(n);
    const std::vector<std::int32_t> key(n, 2);
    world.write(keys, key.data(), n);
    LaunchConfig config;
    config.scratch_bytes = 16;
    world.launch(config, [&, x, keys, numbers, local](F& b) {
      const Scratch<std::uint32_t> counts{0, 4};
      b.transform(counts, counts.all(), Zero{});
      b.tally(counts, keys, all, numbers);
      b.weighted_sum(local, x, all, 1, From{1 - b.pe()});
      b.warps(4, [&](auto& piece, std::size_t i) {
        piece.weighted_sum(local, x, Range{i, 1}, 1, From{1 - b.pe()});
        piece.put(x, local, Range{i, 1}, 1 - b.pe());
      });
      b.quiet();
      of_payload = b.read(x, 0) + b.read(local, 3);
      seen = b.read(numbers, n - 1);
      total = b.scan(counts, counts, counts.all(), Same{});
    });
  });
  EXPECT_TRUE(engine.findings().empty());
  EXPECT_EQ(seen, n - 1);
  EXPECT_EQ(total, n);
  EXPECT_EQ(of_payload, 0.0F);
}

}  // namespace
}  // namespace sym::check
