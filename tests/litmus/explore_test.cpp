// The search itself: what bounds it, how an execution is repeated, and what it makes of programs
// that are not litmus tests.
#include <gmock/gmock.h>

#include "core/collective/all_reduce.hpp"
#include "core/collective/broadcast.hpp"
#include "tests/litmus/litmus.hpp"

namespace sym::litmus {
namespace {

using testing::HasSubstr;
using testing::UnorderedElementsAre;

check::CheckOptions options_for(int pes) {
  check::CheckOptions options;
  options.pes = pes;
  options.schedule = "exhaustive";
  return options;
}

// Two blocks read a number and write one more: an update is lost if one comes between the two verbs
// of the other.
void count_up(FiberWorld& world, Seen& seen) {
  const Desk desk(world);
  LaunchConfig config;
  config.blocks = 2;
  world.launch(config, [&](Block& block) { store(block, desk.x, load(block, desk.x) + 1); });
  std::int32_t got = 0;
  world.read(&got, desk.x, 1);
  seen.r[0] = got;
}

struct Counted {
  std::set<int> values;
  check::CheckReport report;
};
Counted counted(const check::CheckOptions& options) {
  Counted counted;
  Seen seen;
  check::Exploration how;
  how.end = [&](const fiber::Engine&) { counted.values.insert(seen.r[0]); };
  counted.report = check::explore(
      options, [&](FiberWorld& world) { count_up(world, seen); }, how);
  return counted;
}

TEST(Explore, BoundLeavesOutPreemptionsAndSaysSo) {
  check::CheckOptions options = options_for(1);
  options.bound = 0;
  const Counted none = counted(options);
  EXPECT_THAT(none.values, UnorderedElementsAre(2));
  EXPECT_TRUE(none.report.incomplete);
  EXPECT_THAT(none.report.not_reached, HasSubstr("more than 0 preemptions"));
  options.bound = 1;
  EXPECT_THAT(counted(options).values, UnorderedElementsAre(1, 2));
  options.bound = -1;
  const Counted all = counted(options);
  EXPECT_THAT(all.values, UnorderedElementsAre(1, 2));
  EXPECT_FALSE(all.report.incomplete) << all.report.not_reached;
}

// Who reads first is decided where the writer's turn begins: later it would be a preemption.
TEST(Explore, BoundKeepsTheOtherOrderOfTurns) {
  check::CheckOptions options = options_for(1);
  options.bound = 0;
  std::set<int> values;
  Seen seen;
  check::Exploration how;
  how.end = [&](const fiber::Engine&) { values.insert(seen.r[0]); };
  (void)check::explore(
      options,
      [&](FiberWorld& world) {
        const Desk desk(world);
        LaunchConfig config;
        config.blocks = 2;
        world.launch(config, [&](Block& block) {
          if (block.index() == 1) {
            seen.r[0] = load(block, desk.x);
          } else if (load(block, desk.y) == 0) {
            store(block, desk.x, 1);
          }
        });
        world.synchronize();
      },
      how);
  EXPECT_THAT(values, UnorderedElementsAre(0, 1));
}

TEST(Explore, TimeEndsAnExecutionToo) {
  check::CheckOptions options = options_for(1);
  options.most_seconds = 0.05;
  const check::CheckReport report = check::run_check(options, [](FiberWorld& world) {
    const Desk desk(world);
    launch(world, [&](Block& block) {
      for (std::uint64_t n = 1; n != 0 && load(block, desk.x) == 0;) ++n;
    });
    world.synchronize();
  });
  EXPECT_TRUE(report.incomplete);
  EXPECT_EQ(report.executions, 0U);
  EXPECT_THAT(report.not_reached, HasSubstr("the budget is used up"));
}

// What is no finding but wrong has its decisions too.
TEST(Explore, DecisionsRepeatTheExecutionOfWrongData) {
  int found = 0;
  const auto program = [&found](FiberWorld& world) {
    const Desk desk(world);
    launch(world, [&](Block& block) {
      if (block.pe() == 0) {
        block.signal(desk.f, 0, 1);
      } else {
        found = static_cast<int>(block.test(desk.f, 0));
      }
    });
    world.synchronize();
  };
  for (const int wrong : {0, 1}) {
    check::CheckOptions options = options_for(2);
    options.wrong = [&] { return found == wrong; };
    const check::CheckReport all = check::run_check(options, program);
    EXPECT_EQ(all.executions, 2U);
    ASSERT_FALSE(all.decisions.empty());
    found = -1;
    options.decisions = all.decisions;
    EXPECT_EQ(check::run_check(options, program).executions, 1U);
    EXPECT_EQ(found, wrong);
  }
}

TEST(Explore, BudgetEndsItAsIncomplete) {
  check::CheckOptions options = options_for(1);
  options.most_steps = 30;
  const Counted some = counted(options);
  EXPECT_TRUE(some.report.incomplete);
  EXPECT_THAT(some.report.not_reached, HasSubstr("budget"));
}

// A race that only one order of two launches' blocks shows to the eye; the detector reports it in
// each, so the decisions are the first execution's. Then one that is a hang in some orders only.
TEST(Explore, DecisionsRepeatTheExecutionOfAFinding) {
  const auto program = [](FiberWorld& world) {
    const Desk desk(world);
    launch(world, [&](Block& block) {
      if (block.pe() == 0) {
        block.signal(desk.f, 0, 1);
      } else if (block.test(desk.f, 0) == 1) {
        block.wait_until(desk.f, 0, std::uint64_t{2});
      }
    });
    world.synchronize();
  };
  const check::CheckReport all = check::run_check(options_for(2), program);
  ASSERT_EQ(all.findings.size(), 1U);
  EXPECT_EQ(all.findings[0].kind, "deadlock");
  EXPECT_EQ(all.executions, 2U);
  ASSERT_FALSE(all.decisions.empty());

  check::CheckOptions options = options_for(2);
  options.decisions = all.decisions;
  const check::CheckReport again = check::run_check(options, program);
  EXPECT_EQ(again.executions, 1U);
  EXPECT_EQ(again.text(), all.text());

  options.decisions.back() = 99;
  EXPECT_EQ(check::run_check(options, program).findings.at(0).kind, "replay");
}

TEST(Explore, RefusesAProgramThatIsNotTheSameAgain) {
  int runs = 0;
  const auto program = [&runs](FiberWorld& world) {
    const Desk desk(world);
    if (world.pe() == 0) ++runs;
    launch(world, [&](Block& block) {
      if (block.pe() == 1 && runs > 1) return;
      block.put_value(desk.x, 0, 1, 1);
      load(block, desk.x);
    });
    world.synchronize();
  };
  EXPECT_THROW(check::run_check(options_for(2), program), Failure);
}

// Where all conflicts are ordered, one execution stands for all.
TEST(Explore, AllReduceIsDone) {
  for (const int variant : {0, 1, 2, 3}) {
    const auto program = [variant](FiberWorld& world) {
      const Group group{world.channel({1, 64}), world.team()};
      const auto in = world.allocate<float>(16);
      const auto out = world.allocate<float>(16);
      for (int iteration = 0; iteration < 2; ++iteration) {
        const std::vector<float> ones(16, 1.0F);
        world.write(in, ones.data(), ones.size());
        world.barrier();
        launch(world, [=](Block& block) {
          if (variant == 0) all_reduce_one_shot(block, group, in, out, 16, Sum{});
          if (variant == 1) all_reduce_one_shot_read(block, group, in, out, 16, Sum{});
          if (variant == 2) all_reduce_two_shot(block, group, in, out, 16, Sum{});
          if (variant == 3) all_reduce_ring(block, group, in, out, 16, Sum{});
        });
        std::vector<float> sums(16);
        world.read(sums.data(), out, sums.size());
        EXPECT_THAT(sums, testing::Each(static_cast<float>(world.n_pes())));
        world.barrier();
      }
      world.free(in);
      world.free(out);
    };
    for (const int pes : {2, 3}) {
      const check::CheckReport report = check::run_check(options_for(pes), program);
      EXPECT_EQ(report.text(), "") << variant;
      EXPECT_FALSE(report.incomplete);
      EXPECT_EQ(report.executions, 1U);
    }
  }
}

// Three in a row and no barrier between them; only the root has something to send, and it changes.
TEST(Explore, BroadcastsOfPacketsAreDone) {
  const auto program = [](FiberWorld& world) {
    const Group group{world.channel({1, 64}), world.team()};
    const auto in = world.allocate<float>(16);
    const auto out = world.allocate<float>(5 * 16);
    const std::vector<float> mine(16, 1.0F + static_cast<float>(world.pe()));
    world.write(in, mine.data(), mine.size());
    world.barrier();
    const int last = world.n_pes() - 1;
    launch(world, [=](Block& block) {
      for (int k = 0; k < 5; ++k)
        broadcast_one_shot(block, group, in, out.at(16U * static_cast<unsigned>(k)), 16,
                           k < 3 ? 0 : last);
    });
    std::vector<float> got(5 * 16);
    world.read(got.data(), out, got.size());
    EXPECT_EQ(std::count(got.begin(), got.end(), 1.0F), 3 * 16);
    EXPECT_EQ(std::count(got.begin(), got.end(), 1.0F + static_cast<float>(last)), 2 * 16);
  };
  for (const int pes : {2, 3}) {
    const check::CheckReport report = check::run_check(options_for(pes), program);
    EXPECT_EQ(report.text(), "");
    EXPECT_FALSE(report.incomplete);
    EXPECT_EQ(report.executions, 1U);
  }
}

// Without its last barrier a ring's result may not be there when the launch ends.
TEST(Explore, AHoleInACollectiveIsFound) {
  const auto program = [](FiberWorld& world) {
    const Group group{world.channel({1}), world.team()};
    const auto in = world.allocate<float>(16);
    const auto out = world.allocate<float>(16);
    launch(world, [=](Block& block) {
      const Range mine = shares_of<float>(block, 16, group.team)(group.team.rank());
      if (!barrier(block, group)) return;
      block.reduce(out, in, mine, group.team, Sum{});
      block.put(out, out, mine, 1 - block.pe());
    });
    std::vector<float> sums(16);
    world.read(sums.data(), out, sums.size());
  };
  const check::CheckReport report = check::run_check(options_for(2), program);
  ASSERT_FALSE(report.clean());
  EXPECT_EQ(report.findings[0].kind, "race");
  EXPECT_FALSE(report.incomplete);
  EXPECT_GT(report.executions, 1U);
}

}  // namespace
}  // namespace sym::litmus
