// Kinds of wrong that the detector decides, each beside a program that does it right.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/collective/barrier.hpp"
#include "tests/unit/check_desk.hpp"

namespace sym::check {
namespace {

using testing::HasSubstr;

// Scratch holds nothing defined when a launch begins, not even what the launch before has left.
TEST(UninitialisedRead, OfScratch) {
  const auto reads = [](Range written) {
    return [written](F& b, const Desk& d) {
      b.transform(d.counts, written, Zero{});
      b.sync();
      (void)b.sum(d.counts, all, Same{});
    };
  };
  EXPECT_EQ(found(reads(all)).kinds, "");
  const Found wrong = found(reads(Range{0, n - 1}));
  EXPECT_EQ(wrong.kinds, "uninitialised-read");
  EXPECT_THAT(wrong.text, HasSubstr("UNINITIALISED READ  sum of scratch bytes [0, 256)"));
  EXPECT_THAT(wrong.text, HasSubstr("check_classes_test.cpp:"));
}
TEST(UninitialisedRead, OfTheLaunchBefore) {
  CheckOptions options;
  const auto kinds = [&](bool again) {
    const CheckReport report = run_check(options, [&](fiber::FiberWorld& world) {
      const Scratch<std::uint32_t> scratch{0, n};
      LaunchConfig config;
      config.scratch_bytes = 4 * n;
      for (const bool writes : {true, again}) {
        world.launch(config, [=](F& b) {
          if (writes) b.transform(scratch, all, Zero{});
          b.sync();
          (void)b.sum(scratch, all, Same{});
        });
      }
    });
    return report.findings.empty() ? "" : report.findings[0].kind;
  };
  EXPECT_EQ(kinds(true), "");
  EXPECT_EQ(kinds(false), "uninitialised-read");
}
TEST(UninitialisedRead, TallyCountsOnFromWhatIsThere) {
  const auto tallies = [](bool zeroed) {
    return [zeroed](F& b, const Desk& d) {
      if (zeroed) b.transform(d.counts, all, Zero{});
      (void)b.tally(d.counts, d.keys, all);
    };
  };
  EXPECT_EQ(found(tallies(true)).kinds, "");
  EXPECT_EQ(found(tallies(false)).kinds, "uninitialised-read");
}
TEST(UninitialisedRead, WindowsAndLocalsAreZeroed) {
  EXPECT_EQ(found([](F& b, const Desk& d) {
              (void)b.sum(d.x, all, Same{});
              (void)b.sum(d.local, all, Same{});
            }).kinds,
            "");
}

// fetch_add counts, and makes no edge: a flag of it orders nothing.
TEST(NoEdge, FetchAddIsNoSignal) {
  const auto hands_over = [](bool signals) {
    return [signals](F& b, const Desk& d) {
      const auto& steps = d.group.channel.steps;
      if (b.pe() == 0) {
        b.transform(d.x, all, Same{}, d.x);
        (void)b.fetch_add(d.numbers, 0, std::uint32_t{1}, 1);
        if (signals) b.signal(steps, 0, 1);
      } else {
        for (int i = 0; i < 3; ++i) (void)b.fetch_add(d.numbers, 0, std::uint32_t{0}, 1);
        if (signals && !b.wait_until(steps, 0, d.group.team.only(0))) return;
        b.reduce(d.y, d.x, all, d.group.team.only(0), Sum{});
      }
    };
  };
  EXPECT_EQ(found(hands_over(true)).kinds, "");
  EXPECT_EQ(found(hands_over(false)).kinds, "race");
}

// An early put meets the zeroing of its target.
TEST(InitialisationRace, OwnMemoryIsWrittenBeforeOthersMayPut) {
  const auto kinds = [](bool barrier) {
    CheckOptions options;
    options.schedule = "fifo";
    const CheckReport report = run_check(options, [&](fiber::FiberWorld& world) {
      const auto x = world.allocate<float>(n);
      const std::vector<float> ones(n, 1);
      world.write(x, ones.data(), n);
      if (barrier) world.barrier();
      world.launch({.name = "early"}, [=](F& b) {
        b.put_value(x, 3, 2.0F, 1 - b.pe());
        b.quiet();
      });
    });
    return report.findings.empty() ? "" : report.findings[0].kind;
  };
  EXPECT_EQ(kinds(true), "");
  EXPECT_EQ(kinds(false), "race");
}

// A flag that has been taken, but whose poster has not heard of it, may be posted too early.
TEST(Posts, AreJudgedByWhatThePosterKnows) {
  const auto posts = [](bool credit, const std::string& schedule) {
    CheckOptions options;
    options.schedule = schedule;
    const CheckReport report = run_check(options, [&](fiber::FiberWorld& world) {
      const Posts flags = world.posts(2);
      for (int step = 0; step < 3; ++step) {
        if (world.pe() == 0) world.queue(0).post(flags, 0, 1);
        if (world.pe() == 0 && credit) world.queue(0).take(flags, 1, 1);
        if (world.pe() == 1) world.queue(0).take(flags, 0, 0);
        if (world.pe() == 1 && credit) world.queue(0).post(flags, 1, 0);
      }
    });
    return report.text();
  };
  for (const std::string schedule : {"fifo", "worst"}) {
    EXPECT_EQ(posts(true, schedule), "");
    EXPECT_THAT(posts(false, schedule), HasSubstr("POST the flag of slot 0 at PE 1"));
  }
  EXPECT_THAT(posts(false, "fifo"), HasSubstr("let the taker post a flag back"));
}

// What a finding says for machines, and that an operation of a queue is called one.
TEST(RaceReport, HasBothAccessesAndWhatWouldMendIt) {
  CheckOptions options;
  const CheckReport report = run_check(options, [&](fiber::FiberWorld& world) {
    const auto x = world.allocate<float>(n);
    const auto y = world.allocate<float>(n);
    world.queue(1).put(row_of(y, 0, n), row_of(x, 0, n), world.pe());
    world.launch({.name = "uses"}, [=](F& b) { (void)b.sum(y, all, Same{}); });
  });
  ASSERT_EQ(report.findings.size(), 1U);
  const fiber::Finding& race = report.findings[0];
  EXPECT_THAT(race.text, HasSubstr("queue 1"));
  EXPECT_THAT(race.why, HasSubstr("nothing orders queue"));
  EXPECT_THAT(race.fix, HasSubstr("record() a mark"));
  ASSERT_EQ(race.places.size(), 2U);
  for (const fiber::Place& place : race.places) {
    const bool copy = place.verb == fiber::Verb::queue_put;
    EXPECT_EQ(place.role, copy ? "write" : "read");
    EXPECT_EQ(place.queue, copy ? 1 : -1);
    EXPECT_EQ(place.block, copy ? -1 : 0);
    EXPECT_GT(place.site.line, 0U);
  }
}

}  // namespace
}  // namespace sym::check
