// Hangs on the order of launches or on places are told from those on a signal that is missing: by
// kernels that wait, and by the same kernels where they poll.
#include "backends/fiber/fault.hpp"
#include "core/collective/barrier.hpp"
#include "tests/unit/verdict_desk.hpp"

namespace sym::check {
namespace {

using testing::Not;
using testing::StartsWith;

// How a kernel waits for a counter.
class Turns : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (GetParam() && !fiber::FaultGuard::works()) GTEST_SKIP() << "livelocks are not decided";
  }
  template <class Program>
  static Finding stands(int pes, Program program, int resident = 0) {
    return hang(pes, program, resident, false, GetParam() ? "livelock" : "deadlock");
  }
  static void await(FiberBlock& block, const Signals& signals, std::uint64_t value = 1) {
    if (!GetParam()) {
      block.wait_until(signals, 0, value);
    } else {
      while (block.test(signals, 0) < value) {
      }
    }
  }
};

template <class Kernel>
void launch_as(FiberWorld& world, const char* name, Kernel kernel, int blocks = 1, int stream = 0) {
  world.launch({.name = name, .blocks = blocks, .stream = stream}, kernel);
}

TEST_P(Turns, ItsOwnStreamsNextLaunch) {
  const Finding finding = stands(2, [](FiberWorld& world) {
    const Signals signals = counter(world, 1);
    launch_as(world, "waits", [=](FiberBlock& block) { await(block, signals); });
    launch_as(world, "tells", [=](FiberBlock& block) { block.signal(signals, 0, block.pe()); });
  });
  EXPECT_EQ(finding.verdict, "not scheduled");
  EXPECT_EQ(
      finding.why,
      "PE 0's launch 2 of kernel tells comes after this one on its stream, and would bring it");
  ASSERT_EQ(finding.places.size(), 2U);
  EXPECT_EQ(finding.places[0].role, GetParam() ? "poll" : "wait");
  EXPECT_EQ(finding.places[0].memory, "control allocation #0 slot 0");
  EXPECT_EQ(finding.places[1].role, "signal");
  EXPECT_EQ(finding.places[1].launch_name, "tells");
  EXPECT_THAT(finding.text, HasSubstr("control allocation #0 slot 0: "));
}

TEST_P(Turns, TheOtherPesNextLaunch) {
  const Finding finding = stands(2, [](FiberWorld& world) {
    const Signals signals = counter(world, 1);
    launch_as(world, "waits", [=](FiberBlock& block) { await(block, signals); });
    launch_as(world, "tells", [=](FiberBlock& block) { block.signal(signals, 0, 1 - block.pe()); });
  });
  EXPECT_EQ(finding.verdict, "not scheduled");
  EXPECT_THAT(finding.why,
              StartsWith("PE 1's launch 2 of kernel tells comes after one that waits on its "));
}

// What is queued besides does not make a cycle anything else.
TEST_P(Turns, ACycleIsOneWithLaunchesBehindIt) {
  const Finding finding = stands(2, [](FiberWorld& world) {
    const Signals signals = counter(world, 1);
    const Group group{world.channel({1}), world.team()};
    for (int i = 1; i < 4; ++i) {
      launch_as(world, "waits", [=](FiberBlock& block) {
        await(block, signals, static_cast<std::uint64_t>(i));
        block.signal(signals, 0, 1 - block.pe());
      });
    }
    launch_as(world, "meets", [=](FiberBlock& block) { barrier(block, group); });
  });
  EXPECT_EQ(finding.verdict, "cycle");
  EXPECT_THAT(finding.why, HasSubstr("control allocation #0 slot 0) <- PE 1 block 0 "));
}

TEST_P(Turns, NoPlaceForTheProducer) {
  const auto program = [](FiberWorld& world) {
    const Signals signals = counter(world, 1);
    launch_as(
        world, "meets",
        [=](FiberBlock& block) {
          block.signal(signals, 0, block.pe());
          block.quiet();
          await(block, signals, 5);
        },
        5);
  };
  const Finding finding = stands(2, program, 3);
  EXPECT_EQ(finding.verdict, "not scheduled");
  EXPECT_EQ(finding.why,
            "PE 0's block 4 of launch 1 of kernel meets has no place, and would bring it: 3 of the "
            "PE's blocks are resident at once, and those wait");
  EXPECT_THAT(finding.text, Not(HasSubstr("cycle:")));
  CheckOptions enough;
  enough.resident_blocks = 5;
  EXPECT_EQ(run_check(enough, program).text(), "");
}

// A place is what is missing only where it would help.
TEST_P(Turns, NoPlaceForOneThatDoesNotSignal) {
  const Finding finding = stands(
      1,
      [](FiberWorld& world) {
        const Signals signals = counter(world, 1);
        launch_as(
            world, "waits",
            [=](FiberBlock& block) {
              if (block.index() < 2) await(block, signals);
            },
            3);
      },
      2);
  EXPECT_EQ(finding.verdict, "no producer");
}

TEST_P(Turns, KernelsInAnotherOrderOnOneStream) {
  const Finding finding = stands(2, [](FiberWorld& world) {
    const Signals all[2] = {counter(world, 1), counter(world, 1)};
    for (const int i : {world.pe(), 1 - world.pe()}) {
      launch_as(world, i == 0 ? "first" : "second", [=](FiberBlock& block) {
        block.signal(all[i], 0, 1 - block.pe());
        await(block, all[i]);
      });
    }
  });
  EXPECT_EQ(finding.verdict, "not scheduled");
  EXPECT_EQ(finding.why,
            "PE 1's launch 2 of kernel first comes after one that waits on its stream, and would "
            "bring it");
}

// All lanes of a barrier are told by the launch that would bring them, and none by a guess.
TEST(Verdict, BarriersInAnotherOrderOnOnePe) {
  const Finding finding = hang(3, [](FiberWorld& world) {
    const Group groups[2] = {{world.channel({1}), world.team()},
                             {world.channel({1}), world.team()}};
    for (const int i : {world.pe() / 2, 1 - world.pe() / 2}) {
      launch_as(world, i == 0 ? "first" : "second",
                [=](FiberBlock& block) { barrier(block, groups[i]); });
    }
  });
  EXPECT_EQ(finding.verdict, "not scheduled");
  EXPECT_EQ(finding.why,
            "PE 2's launch 2 of kernel first comes after one that waits on its stream, and would "
            "bring it");
  EXPECT_EQ(finding.places[0].memory, "channel #0 barriers slot 0 lane 2");
}

// A trial that ends in a refusal says nothing, and is not reported: what is queued is a guess.
TEST(Verdict, ATrialThatFails) {
  const Finding finding = hang(2, [](FiberWorld& world) {
    const Signals signals = counter(world, 1);
    const auto x = world.allocate<float>(8);
    if (world.pe() == 1) return;
    launch_as(world, "waits", [=](FiberBlock& block) { block.wait_until(signals, 0, 1ULL); });
    launch_as(world, "refuses", [=](FiberBlock& block) {
      block.put(x, x, Range{0, 8}, 1);
      block.require(false, "nothing", 0, 0);
    });
  });
  EXPECT_EQ(finding.verdict, "not scheduled");
  EXPECT_EQ(finding.why, "PE 0's next launch (refuses) is queued behind one that waits");
}

// What stands before the producer on its stream waits for the kernel that waits for it.
TEST(Verdict, ALaunchBehindAMarkOfTheQueueThatWaits) {
  const Finding finding = hang(1, [](FiberWorld& world) {
    const Signals signals = counter(world, 1);
    launch_as(world, "waits", [=](FiberBlock& block) { block.wait_until(signals, 0, 1ULL); });
    world.queue(1).after(world.queue(0).record());
    launch_as(
        world, "tells", [=](FiberBlock& block) { block.signal(signals, 0, 0); }, 1, 1);
  });
  EXPECT_EQ(finding.verdict, "not scheduled");
  EXPECT_EQ(
      finding.why,
      "PE 0's launch 2 of kernel tells comes after one on its stream that waits for a mark of "
      "queue 0, and would bring it");
}

// What a queue has behind a kernel that waits.
TEST(Verdict, APostBehindAKernelThatWaits) {
  const Finding finding = hang(2, [](FiberWorld& world) {
    const Signals signals = counter(world, 1);
    const Posts posts = world.posts(1);
    if (world.pe() == 0) {
      launch_as(world, "waits", [=](FiberBlock& block) { block.wait_until(signals, 0, 1ULL); });
      world.queue(0).post(posts, 0, 1);
    } else {
      world.queue(0).take(posts, 0, 0);
      launch_as(world, "tells", [=](FiberBlock& block) { block.signal(signals, 0, 0); });
    }
  });
  EXPECT_EQ(finding.verdict, "not scheduled");
  EXPECT_THAT(finding.text, HasSubstr("posts #0 slot 0: missing: PE 0 has posted it 0 times"));
}

TEST_P(Turns, ALaunchBehindOneThatLacksItsSignalIsNotTheCause) {
  const Finding finding = stands(2, [](FiberWorld& world) {
    const Signals missing = counter(world, 1), come = counter(world, 1);
    if (world.pe() == 1)
      launch_as(world, "lacks", [=](FiberBlock& block) { await(block, missing); });
    if (world.pe() == 0) launch_as(world, "waits", [=](FiberBlock& block) { await(block, come); });
    launch_as(world, "tells", [=](FiberBlock& block) {
      if (block.pe() == 1) block.signal(come, 0, 0);
    });
  });
  EXPECT_NE(finding.verdict, "not scheduled");
  EXPECT_EQ(finding.places[0].launch_name, "lacks") << finding.text;
}

// The next launch of the same kernel sends the same once more: the count is wrong all the same.
TEST_P(Turns, ACountThatIsTooLargeIsNotAMatterOfTurns) {
  const Finding finding = stands(2, [](FiberWorld& world) {
    const Signals signals = counter(world, 1);
    for (std::uint64_t i = 1; i < 3; ++i) {
      launch_as(world, "counts", [=](FiberBlock& block) {
        block.signal(signals, 0, 1 - block.pe());
        await(block, signals, i + 1);
      });
    }
  });
  EXPECT_EQ(finding.verdict, "wrong value") << finding.text;
}

TEST_P(Turns, ExitedAndMisdirected) {
  const Finding exited = stands(2, [](FiberWorld& world) {
    const Signals signals = counter(world, 2);
    launch_as(world, "waits", [=](FiberBlock& block) {
      if (block.pe() == 0) await(block, signals);
    });
  });
  EXPECT_EQ(exited.verdict, "no producer");
  const Finding elsewhere = stands(2, [](FiberWorld& world) {
    const Signals signals = counter(world, 2);
    launch_as(world, "waits", [=](FiberBlock& block) {
      if (block.pe() == 1) block.signal(signals, 1, 0);
      if (block.pe() == 0) await(block, signals);
    });
  });
  EXPECT_EQ(elsewhere.verdict, "misdirected");
  EXPECT_THAT(elsewhere.why, HasSubstr("went to control allocation #0 slot 1 of PE 0"));
}

INSTANTIATE_TEST_SUITE_P(Verdict, Turns, testing::Bool(),
                         [](const auto& how) { return how.param ? "polls" : "waits"; });

}  // namespace
}  // namespace sym::check
