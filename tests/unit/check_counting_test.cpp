// What waits for some of several signals acquire: never more than every legal delivery gives, and
// never less.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/collective/barrier.hpp"
#include "tests/unit/check_desk.hpp"

namespace sym::check {
namespace {

// One plain counter and three windows, under every schedule: all must agree.
struct Table {
  Signals counter;
  Group group;
  Window<float> x, y;
  std::uint64_t launch = 1;
};
Found judged(const std::function<void(F&, const Table&)>& kernel, int pes,
             std::uint64_t launches = 1) {
  Found result;
  for (const std::string schedule :
       {"fifo", "worst", "random", "random", "random", "pct", "exhaustive"}) {
    static std::uint64_t seed = 0;
    CheckOptions options;
    options.pes = pes;
    options.schedule = schedule;
    options.seed = ++seed;
    const CheckReport report = run_check(options, [&](fiber::FiberWorld& world) {
      Signals counter;
      counter.words = world.allocate_control<std::uint64_t>(1);
      counter.slots = 1;
      Table table{counter,
                  {world.channel({1}), world.team()},
                  world.allocate<float>(n),
                  world.allocate<float>(n)};
      for (; table.launch <= launches; ++table.launch) {
        world.launch({.name = "count"}, [=](F& block) { kernel(block, table); });
      }
    });
    std::string kinds;
    for (const auto& finding : report.findings) kinds += finding.kind + " ";
    if (schedule == "fifo") result = {kinds, report.text(), report.accesses};
    if (kinds != result.kinds) result.kinds += "but " + schedule + ": " + kinds;
  }
  return result;
}

constexpr Range half{0, n / 2}, rest{n / 2, n / 2};
void use(F& block, const Table& t, Range range) { block.transform(t.y, range, Same{}, t.x); }

// NVIDIA/nvshmem#84, with two producers: the consumer waits for one of them and reads the first's.
auto two_producers(std::uint64_t wanted, Range read) {
  return [=](F& block, const Table& t) {
    const Range mine = block.pe() == 1 ? half : rest;
    if (block.pe() != 0) block.put_signal(t.x, t.y, mine, t.counter, 0, 0);
    if (block.pe() != 0) block.quiet();
    if (block.pe() == 0 && block.wait_until(t.counter, 0, wanted) >= wanted) use(block, t, read);
  };
}
TEST(CountingSignals, OneOfTwoIsNoParticularOne) {
  const Found found = judged(two_producers(1, half), 3);
  EXPECT_EQ(found.kinds, "race ");
  EXPECT_THAT(found.text, testing::HasSubstr("acquires no particular one of them"));
  EXPECT_THAT(found.text, testing::HasSubstr("counts 1"));
}
TEST(CountingSignals, AllOfThemAreAll) {
  EXPECT_EQ(judged(two_producers(2, Range{0, n}), 3).kinds, "");
}

// Producers that fence between their signals: the k-th says that k parts are there.
auto in_order(bool fenced) {
  return [=](F& block, const Table& t) {
    if (block.pe() == 1) {
      block.put_signal(t.x, t.y, half, t.counter, 0, 0);
      if (fenced) block.fence(0);
      block.put_signal(t.x, t.y, rest, t.counter, 0, 0);
      block.quiet();
    } else {
      (void)block.wait_until(t.counter, 0, 1);
      use(block, t, half);
      (void)block.wait_until(t.counter, 0, 2);
      use(block, t, rest);
    }
  };
}
TEST(CountingSignals, OneProducersFenceOrdersThem) {
  EXPECT_EQ(judged(in_order(true), 2).kinds, "");
  EXPECT_EQ(judged(in_order(false), 2).kinds, "race ");
}

// Batches of unordered signals with a fence behind each: a wait for whole batches is for all of
// them, though signals of the next one may have come before the wait looks.
auto in_batches(std::uint64_t batches, std::uint64_t of) {
  return [=](F& block, const Table& t) {
    constexpr std::size_t width = 8;
    if (block.pe() == 1) {
      for (std::uint64_t i = 0; i < batches * of; ++i) {
        if (i > 0 && i % of == 0) block.fence(0);
        block.put_signal(t.x, t.y, Range{i * width, width}, t.counter, 0, 0);
      }
      block.quiet();
    } else {
      for (std::uint64_t come = of; come <= batches * of; come += of) {
        (void)block.wait_until(t.counter, 0, come);
        use(block, t, Range{0, come * width});
      }
    }
  };
}
TEST(CountingSignals, WholeBatchesAreAllOfThem) {
  EXPECT_EQ(judged(in_batches(2, 2), 2).kinds, "");
  EXPECT_EQ(judged(in_batches(3, 2), 2).kinds, "");
  EXPECT_EQ(judged(in_batches(2, 3), 2).kinds, "");
}
auto one_behind_a_batch(Range read, std::uint64_t wanted) {
  return [=](F& block, const Table& t) {
    if (block.pe() == 1) {
      block.put_signal(t.x, t.y, Range{0, 8}, t.counter, 0, 0);
      block.put_signal(t.x, t.y, Range{8, 8}, t.counter, 0, 0);
      block.fence(0);
      block.put_signal(t.x, t.y, Range{16, 8}, t.counter, 0, 0);
      block.quiet();
    } else {
      (void)block.wait_until(t.counter, 0, wanted);
      use(block, t, read);
    }
  };
}
TEST(CountingSignals, TheNextBatchComesBehindTheFence) {
  EXPECT_EQ(judged(one_behind_a_batch({0, 8}, 2), 2).kinds, "");
  EXPECT_EQ(judged(one_behind_a_batch({8, 8}, 2), 2).kinds, "");
  EXPECT_EQ(judged(one_behind_a_batch({8, 8}, 1), 2).kinds, "race ");
  EXPECT_EQ(judged(one_behind_a_batch({16, 8}, 2), 2).kinds, "race ");
}

// Either of two signals brings the first's payload: one knows of its quiet, the other of its
// signal.
auto either_way(bool completed) {
  return [=](F& block, const Table& t) {
    const Signals& steps = t.group.channel.steps;
    if (block.pe() == 1) {
      block.put_signal(t.x, t.y, half, steps, 0, 0);
      if (completed) block.quiet();
      block.signal(t.counter, 0, 2);
    }
    if (block.pe() == 0) {
      (void)block.wait_until(steps, 0, t.group.team.only(1));
      block.signal(t.counter, 0, 2);
    }
    if (block.pe() == 2) {
      (void)block.wait_until(t.counter, 0, 1);
      block.reduce(t.y, t.x, half, t.group.team.only(0), Sum{});
    }
    block.quiet();
  };
}
TEST(CountingSignals, AQuietAndASignalMayBringTheSame) {
  EXPECT_EQ(judged(either_way(true), 3).kinds, "");
  EXPECT_EQ(judged(either_way(false), 3).kinds, "race ");
}

// Unordered signals of one producer have in common what it did before the first of them.
TEST(CountingSignals, AnyOfThemBringsWhatAllHave) {
  EXPECT_EQ(judged(
                [](F& block, const Table& t) {
                  if (block.pe() == 1) {
                    block.put(t.x, t.y, half, 0);
                    block.quiet();
                    block.signal(t.counter, 0, 0);
                    block.signal(t.counter, 0, 0);
                  } else if (block.wait_until(t.counter, 0, 1) >= 1) {
                    use(block, t, half);
                  }
                },
                2)
                .kinds,
            "");
}

// The second producer signals only when it has heard of the first, which the consumer told it.
auto relayed(bool told) {
  return [=](F& block, const Table& t) {
    const Signals& steps = t.group.channel.steps;
    if (block.pe() == 1) block.put_signal(t.x, t.y, half, t.counter, 0, 0);
    if (block.pe() == 0) {
      (void)block.wait_until(t.counter, 0, 1);
      use(block, t, half);
      if (told) block.signal(steps, 0, 2);
    }
    if (block.pe() == 2) {
      if (told) (void)block.wait_until(steps, 0, t.group.team.only(0));
      block.signal(t.counter, 0, 0);
    }
    block.quiet();
  };
}
TEST(CountingSignals, WhatNeedsTheWaitCannotSatisfyIt) {
  EXPECT_EQ(judged(relayed(true), 3).kinds, "");
  EXPECT_EQ(judged(relayed(false), 3).kinds, "race ");  // though fifo has delivered PE 1's first
}

// aiter#3928: the same count waited for in every launch. The first launch's signal satisfies the
// second's wait.
auto same_count(bool grows) {
  return [=](F& block, const Table& t) {
    if (block.pe() == 1) {
      block.put_signal(t.x, t.y, half, t.counter, 0, 0);
      block.quiet();
      (void)block.wait_until(t.group.channel.steps, 0, t.group.team.only(0));
    } else {
      const std::uint64_t wanted = grows ? t.launch : 1;
      (void)block.wait_until(t.counter, 0, wanted);
      use(block, t, half);
      block.signal(t.group.channel.steps, 0, 1);
    }
  };
}

TEST(CountingSignals, TheSameCountInALaterLaunchIsNoNews) {
  EXPECT_EQ(judged(same_count(true), 2, 3).kinds, "");
  const Found found = judged(same_count(false), 2, 3);
  EXPECT_THAT(found.kinds, testing::StartsWith("race "));
  EXPECT_THAT(found.text, testing::HasSubstr("had been waited for before"));
}

// A test acquires what the count that it shows is sure to mean. Under fifo, PE 2 is the later one.
std::string after_test(bool second) {
  return found(
             [=](F& block, const Desk& desk) {
               const Signals counter{desk.keys.as<std::uint64_t>(), {}, {}, 1};
               if (block.pe() == 1) block.put_signal(desk.x, desk.y, half, counter, 0, 0);
               for (int i = 0; block.pe() == 2 && i < 10; ++i) block.sync();
               if (block.pe() == 2 && second) block.signal(counter, 0, 0);
               for (int i = 0; block.pe() == 0 && i < 5; ++i) block.sync();
               if (block.pe() == 0 && block.test(counter, 0) == 1)
                 block.transform(desk.y, half, Same{}, desk.x);
               barrier(block, desk.group);
             },
             3)
      .kinds;
}
TEST(CountingSignals, TestIsAWaitForWhatItShows) {
  EXPECT_EQ(after_test(false), "");
  EXPECT_EQ(after_test(true), "race");
}

}  // namespace
}  // namespace sym::check
