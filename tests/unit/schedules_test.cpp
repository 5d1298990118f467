// Schedules that choose: what they log, how it is taken again, what pct promises; and what ends a
// run that would not end by itself.
#include <gmock/gmock.h>

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "backends/check/run.hpp"
#include "core/error.hpp"

namespace sym::check {
namespace {

using fiber::FiberBlock;
using fiber::FiberWorld;
using testing::HasSubstr;

CheckOptions options_of(const std::string& schedule, std::uint64_t seed = 1) {
  CheckOptions options;
  options.schedule = schedule;
  options.seed = seed;
  return options;
}

// Both PEs put to PE 0 and signal; PE 0 says whose data it found in the end. Nothing orders the
// two.
struct Last {
  std::vector<int> found = std::vector<int>(2, -1);
  void operator()(FiberWorld& world) {
    const auto out = world.allocate<int>(16);
    const auto in = world.allocate<int>(16);
    Signals come;
    come.words = world.allocate_control<std::uint64_t>(1);
    come.slots = 1;
    const std::vector<int> mine(16, world.pe());
    world.write(in, mine.data(), 16);
    world.launch({.name = "last"}, [=](FiberBlock& block) {
      block.put_signal(out, in, Range{0, 16}, come, 0, 0);
      if (block.pe() == 0) (void)block.wait_until(come, 0, std::uint64_t{2});
      block.quiet();
    });
    std::vector<int> read(16);
    world.synchronize();
    world.read(read.data(), out, 16);
    if (world.pe() == 0) found = {read[0], read[15]};
  }
};

CheckReport run(const CheckOptions& options, std::vector<int>& found) {
  Last program;
  const CheckReport report = run_check(options, [&](FiberWorld& world) { program(world); });
  found = program.found;
  return report;
}

TEST(Schedules, ReplayTakesTheSameRun) {
  for (const char* schedule : {"random", "pct"}) {
    std::set<std::vector<int>> outcomes;
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
      std::vector<int> first, again;
      const CheckReport report = run(options_of(schedule, seed), first);
      outcomes.insert(first);
      CheckOptions replay = options_of("worst");
      replay.decisions = report.decisions;
      const CheckReport second = run(replay, again);
      ASSERT_EQ(first, again);
      ASSERT_EQ(report.text(), second.text());
      ASSERT_EQ(report.steps, second.steps);
      ASSERT_EQ(report.decisions, second.decisions);
    }
    EXPECT_GE(outcomes.size(), 2U) << schedule << ": one PE's, the other's, perhaps torn ones";
  }
}

TEST(Schedules, DecisionsOfAnotherRunAreFound) {
  std::vector<int> found;
  CheckOptions replay = options_of("random");
  const CheckReport report = run(replay, found);
  ASSERT_GT(report.decisions.size(), 10U);
  replay.decisions = report.decisions;
  replay.decisions.pop_back();
  EXPECT_THAT(run(replay, found).text(), HasSubstr("REPLAY the run goes on after all"));
  replay.decisions = report.decisions;
  replay.decisions.push_back(0);
  EXPECT_THAT(run(replay, found).text(), HasSubstr("REPLAY the run ended after"));
  replay.decisions = report.decisions;
  replay.decisions[5] = 1'000'000;
  EXPECT_THAT(run(replay, found).text(), HasSubstr("REPLAY decision 6 of"));
}

TEST(Schedules, AnyListIsARunWhenShrinking) {
  std::vector<int> found;
  CheckOptions replay = options_of("random");
  const CheckReport whole = run(replay, found);
  replay.exact_replay = false;
  std::vector<std::uint64_t> steps;
  for (const std::size_t kept : {std::size_t{0}, std::size_t{3}, whole.decisions.size() / 2}) {
    replay.decisions.assign(whole.decisions.begin(),
                            whole.decisions.begin() + static_cast<std::ptrdiff_t>(kept));
    const CheckReport part = run(replay, found);
    EXPECT_THAT(part.text(), Not(HasSubstr("REPLAY")));
    replay.decisions.resize(kept + 7);  // zeros: the same run
    const CheckReport padded = run(replay, found);
    EXPECT_EQ(part.decisions, padded.decisions);
    replay.decisions = part.decisions;  // what it made of the list is an exact list
    replay.exact_replay = true;
    EXPECT_EQ(run(replay, found).text(), part.text());
    replay.exact_replay = false;
  }
}

TEST(Schedules, PctSaysWhatItPromises) {
  std::vector<int> found;
  CheckOptions options = options_of("pct");
  options.pct_depth = 3;
  const PctBound pct = run(options, found).pct;
  EXPECT_EQ(pct.depth, 3);
  EXPECT_EQ(pct.actors, 2 + 2 + 2U);  // hosts, blocks, channels to PE 0
  EXPECT_GT(pct.steps, 20U);
  const auto k = static_cast<double>(pct.steps);
  EXPECT_DOUBLE_EQ(pct.bound, 1 / (6 * k * k));
  options.pct_steps = pct.steps;
  EXPECT_DOUBLE_EQ(run(options, found).pct.bound, pct.bound);
  options.pct_steps = 3;  // fewer than there are: nothing is promised
  EXPECT_EQ(run(options, found).pct.bound, 0);
  EXPECT_TRUE(run(options, found).pct.longer);
  for (const int depth : {0, 1001}) {
    options.pct_depth = depth;
    EXPECT_THROW((void)run(options, found), UsageError);
  }
  options.pct_depth = 1000;  // the chance is too small for a number, and there all the same
  options.pct_steps = 0;
  EXPECT_FALSE(run(options, found).pct.longer);
}

// Transfers that no fence or quiet orders are actors each; those behind one go on with them.
TEST(Schedules, PctCountsWhatIsUnordered) {
  const auto actors = [](const std::function<void(FiberBlock&, Window<int>)>& kernel) {
    CheckOptions options = options_of("pct");
    options.pes = 1;
    const CheckReport report = run_check(options, [&](FiberWorld& world) {
      const auto out = world.allocate<int>(8);
      world.launch({.name = "puts"}, [&](FiberBlock& block) { kernel(block, out); });
      world.synchronize();
    });
    EXPECT_EQ(report.text(), "");
    return report.pct.actors - 2;  // a host and a block
  };
  const auto put = [](FiberBlock& block, Window<int> out, std::size_t at) {
    block.put_value(out, at, 1, 0);
  };
  for (const bool fenced : {false, true}) {
    EXPECT_EQ(actors([&](FiberBlock& block, Window<int> out) {
                for (std::size_t i = 0; i < 4; ++i) put(block, out, i);
                if (fenced) block.fence(0);
                for (std::size_t i = 4; i < 8; ++i) put(block, out, i);
                block.quiet();
                for (std::size_t i = 0; i < 4; ++i) put(block, out, i);
              }),
              fenced ? 4U : 8U);
  }
}

// A bug of depth 2: PE 1's block must look between two signals of PE 0. What pct promises it keeps.
TEST(Schedules, PctFindsABugOfItsDepthAsOftenAsItSays) {
  std::uint64_t found = 0;
  double expected = 0;
  CheckOptions options = options_of("pct");
  options.detect_races = false;
  constexpr std::uint64_t runs = 300;
  for (options.seed = 1; options.seed <= runs; ++options.seed) {
    bool between = false;
    const CheckReport report = run_check(options, [&](FiberWorld& world) {
      Signals come;
      come.words = world.allocate_control<std::uint64_t>(1);
      come.slots = 1;
      world.launch({.name = "between"}, [come, &between](FiberBlock& block) {
        if (block.pe() == 0) {
          block.signal(come, 0, 1);
          block.signal(come, 0, 1);
        } else {
          between = block.test(come, 0) == 1;
        }
      });
      world.synchronize();
    });
    found += between ? 1 : 0;
    expected += report.pct.bound;
    options.pct_steps = report.pct.steps;
  }
  EXPECT_GT(expected, 0.5);
  EXPECT_GE(static_cast<double>(found), expected);
}

// One PE polls for what the other never sends.
void polls(FiberWorld& world) {
  Signals come;
  come.words = world.allocate_control<std::uint64_t>(1);
  come.slots = 1;
  world.launch({.name = "polls"}, [come](FiberBlock& block) {
    if (block.pe() == 1) return;
    while (block.test(come, 0) == 0) {
    }
  });
  world.synchronize();
}

TEST(Schedules, PollingForEverIsALivelock) {
  if (!fiber::FaultGuard::works()) GTEST_SKIP() << "not decided under sanitizers";
  for (const char* schedule : {"worst", "random", "pct", "fifo"}) {
    const CheckReport report = run_check(options_of(schedule), polls);
    ASSERT_EQ(report.findings.size(), 1U) << schedule;
    EXPECT_EQ(report.findings[0].kind, "livelock");
    EXPECT_THAT(report.text(), HasSubstr("PE 0 block 0  launch 1 (polls)  test at"));
    ASSERT_FALSE(report.findings[0].places.empty());
    EXPECT_EQ(report.findings[0].places[0].role, "poll");
  }
}

// An addition of nothing is a look.
TEST(Schedules, PollingByFetchAddIsALivelock) {
  if (!fiber::FaultGuard::works()) GTEST_SKIP() << "not decided under sanitizers";
  const CheckReport report = run_check(options_of("worst"), [](FiberWorld& world) {
    const auto count = world.allocate<std::uint64_t>(1);
    world.launch({.name = "polls"}, [count](FiberBlock& block) {
      if (block.pe() == 1) return;
      while (block.fetch_add(count, 0, std::uint64_t{0}, 0) == 0) {
      }
    });
    world.synchronize();
  });
  ASSERT_EQ(report.findings.size(), 1U);
  EXPECT_EQ(report.findings[0].kind, "livelock");
}

// Loops that give up, or whose signal comes late, are none, in whatever schedule.
TEST(Schedules, PollingForAWhileIsNone) {
  for (const char* schedule : {"worst", "random", "pct", "fifo"}) {
    const CheckReport report = run_check(options_of(schedule), [](FiberWorld& world) {
      Signals come;
      come.words = world.allocate_control<std::uint64_t>(2);
      come.slots = 2;
      world.launch({.name = "gives_up"}, [come](FiberBlock& block) {
        for (int n = 0; n < 15'000 && block.test(come, 0) == 0;) ++n;
        block.signal(come, 1, 1 - block.pe());
        while (block.test(come, 1) == 0) {
        }
      });
      world.synchronize();
    });
    EXPECT_EQ(report.text(), "") << schedule;
    EXPECT_FALSE(report.incomplete);
  }
}

TEST(Schedules, ABudgetEndsARunAsIncomplete) {
  CheckOptions options = options_of("random");
  options.most_steps = 500;
  const CheckReport report = run_check(options, polls);
  EXPECT_TRUE(report.clean());
  EXPECT_TRUE(report.incomplete);
  EXPECT_EQ(report.steps, 500U);
  EXPECT_THAT(report.not_reached, HasSubstr("the budget of 500 steps is used up; 2 agents"));
  EXPECT_THAT(report.not_reached, HasSubstr("PE 0 block 0  launch 1 (polls)  test at"));
  // The loop counts: it never is in the same state, so time alone ends it.
  options.most_steps = 0;
  options.most_seconds = 0.05;
  const CheckReport timed = run_check(options, [](FiberWorld& world) {
    const auto flag = world.allocate<int>(1);
    world.launch({.name = "counts"}, [flag](FiberBlock& block) {
      for (std::uint64_t n = 1; n != 0 && block.read(flag, 0) == 0;) ++n;
    });
    world.synchronize();
  });
  EXPECT_TRUE(timed.incomplete);
  EXPECT_THAT(timed.not_reached, HasSubstr("the budget of 0.05 s is used up"));
}

}  // namespace
}  // namespace sym::check
