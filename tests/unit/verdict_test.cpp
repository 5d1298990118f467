// Why a program hangs: one small program for each verdict, and who is named in it.
#include <gmock/gmock.h>

#include <string>

#include "core/collective/barrier.hpp"
#include "tests/unit/verdict_desk.hpp"

namespace sym::check {
namespace {

TEST(Verdict, LostIsASignalThatALargerValueSwallows) {
  const Finding finding = hang(2, [](FiberWorld& world) {
    const Group group{world.channel({1}), world.team()};
    Signals barriers = group.channel.barriers;
    barriers.sent = world.allocate_control<std::uint64_t>(2);  // nobody may write the channel's
    for (int round = 0; round < 2; ++round) {
      // The count of what was sent is rewritten, so that the second signal says "first" again.
      const std::uint64_t zeros[2] = {0, 0};
      if (world.pe() == 0) world.write(barriers.sent, zeros, 2);
      launch(world, [=](FiberBlock& block) {
        if (block.pe() == 0) block.signal(barriers, 0, 1);
        if (block.pe() == 1) block.wait_until(barriers, 0, group.team.only(0));
      });
    }
  });
  EXPECT_EQ(finding.verdict, "lost");
  // Nothing orders the two, so either may come first.
  EXPECT_THAT(finding.why, HasSubstr("(signal at tests/unit/verdict_test.cpp"));
  EXPECT_THAT(
      finding.why,
      HasSubstr("changed nothing: channel #0 barriers slot 0 lane 0 held 1 already, which PE 0 "));
}

TEST(Verdict, MisdirectedToAnotherSlot) {
  const Finding finding = hang(2, [](FiberWorld& world) {
    const Signals signals = counter(world, 2);
    launch(world, [=](FiberBlock& block) {
      if (block.pe() == 0) block.signal(signals, 0, 1);
      if (block.pe() == 1) block.wait_until(signals, 1, std::uint64_t{1});
    });
  });
  EXPECT_EQ(finding.verdict, "misdirected");
  EXPECT_THAT(finding.why, HasSubstr("went to control allocation #0 slot 0 of PE 1"));
  EXPECT_THAT(finding.why, HasSubstr("not to control allocation #0 slot 1 of PE 1"));
  ASSERT_EQ(finding.places.size(), 2U);
  EXPECT_EQ(finding.places[0].role, "wait");
  EXPECT_EQ(finding.places[0].pe, 1);
  EXPECT_EQ(finding.places[0].block, 0);
  EXPECT_EQ(finding.places[0].launch_name, "kernel");
  EXPECT_EQ(std::string(finding.places[0].site.file), "tests/unit/verdict_test.cpp");
  EXPECT_EQ(finding.places[1].role, "signal");
  EXPECT_EQ(finding.places[1].pe, 0);
  EXPECT_EQ(finding.places[1].site.line + 1, finding.places[0].site.line);
}

TEST(Verdict, MisdirectedToAnotherPe) {
  const Finding finding = hang(3, [](FiberWorld& world) {
    const Signals signals = counter(world, 1);
    launch(world, [=](FiberBlock& block) {
      if (block.pe() == 0) block.signal(signals, 0, 2);
      if (block.pe() == 1) block.wait_until(signals, 0, std::uint64_t{1});
    });
  });
  EXPECT_EQ(finding.verdict, "misdirected");
  EXPECT_THAT(finding.why, HasSubstr("went to control allocation #0 slot 0 of PE 2"));
}

TEST(Verdict, WrongValueNamesWhoHasSignalledAndWhoHasNot) {
  const Finding finding = hang(4, [](FiberWorld& world) {
    const Signals signals = counter(world, 1);
    launch(world, [=](FiberBlock& block) {
      if (block.pe() == 1 || block.pe() == 2) block.signal(signals, 0, 0);
      if (block.pe() == 0) block.wait_until(signals, 0, std::uint64_t{3});
    });
  });
  EXPECT_EQ(finding.verdict, "wrong value");
  EXPECT_EQ(finding.why,
            "it waits for 3 and no more than 2 signals come, from PE 1, 2; none from PE 3");
  EXPECT_THAT(finding.text, HasSubstr("slot 0: expected 3, seen 2"));
}

TEST(Verdict, WrongValueWhereAnotherBlockTakesTheSignal) {
  const auto both_wait = [](FiberWorld& world) {
    const Group group{world.channel({1}), world.team()};
    launch(
        world,
        [=](FiberBlock& block) {
          const Signals& steps = group.channel.steps;
          if (block.pe() == 0 && block.index() == 0) block.signal(steps, 0, 1);
          if (block.pe() == 1) block.wait_until(steps, 0, group.team.only(0));
        },
        2);
  };
  const Finding finding = hang(2, both_wait, 0, true);  // they count in one row, unordered
  EXPECT_EQ(finding.verdict, "wrong value");
  EXPECT_THAT(finding.why, HasSubstr("signal 1 was taken by PE 1 block "));
}

void barriers(FiberWorld& world, int launches, int blocks) {
  const Group group{world.channel({2}), world.team()};
  for (int i = 0; i < launches; ++i) {
    launch(
        world, [=](FiberBlock& block) { barrier(block, group); }, blocks);
  }
}

TEST(Verdict, ExitedWhereAHostEndsWithoutTheLaunch) {
  const Finding after =
      hang(3, [](FiberWorld& world) { barriers(world, world.pe() == 2 ? 1 : 2, 1); });
  EXPECT_EQ(after.verdict, "exited");
  EXPECT_EQ(after.why,
            "PE 2's host program has ended after its launch 1, and this is launch 2 here");
  const Finding at_once =
      hang(2, [](FiberWorld& world) { barriers(world, world.pe() == 1 ? 0 : 1, 1); });
  EXPECT_EQ(at_once.verdict, "exited");
  EXPECT_EQ(at_once.why,
            "PE 1's host program has ended and launched nothing, and this is launch 1 here");
}

// Few have launched: a host that waits for the others may be about to.
TEST(Verdict, CycleThroughAHostThatMeetsTheOthersBeforeItLaunches) {
  const Finding finding = hang(2, [](FiberWorld& world) {
    const Group group{world.channel({1}), world.team()};
    if (world.pe() == 1) world.barrier();
    launch(world, [=](FiberBlock& block) {
      const Signals& steps = group.channel.steps;
      if (block.pe() == 1) block.signal(steps, 0, 0);
      if (block.pe() == 0) block.wait_until(steps, 0, group.team.only(1));
    });
    world.synchronize();
    if (world.pe() == 0) world.barrier();
  });
  EXPECT_EQ(finding.verdict, "cycle");
  EXPECT_EQ(finding.why,
            "PE 0 host synchronize: its launches have not ended <- PE 0 block 0 wait(channel #0 "
            "steps slot 0 lane 1) <- PE 1 host barrier <- PE 0 host");
  EXPECT_THAT(finding.text, testing::ContainsRegex("PE 1 host at tests/unit/verdict_test.cpp:"
                                                   "[0-9]+: barrier\n"));
}

TEST(Verdict, StaleEpochWhereAPeLeavesOutALaunch) {
  const Finding finding = hang(3, [](FiberWorld& world) {
    barriers(world, world.pe() == 2 ? 1 : 2, 1);
    world.synchronize();
    world.barrier();
  });
  EXPECT_EQ(finding.verdict, "stale epoch");
  EXPECT_EQ(finding.why, "PE 2 has ended its launch 1, and this is launch 2 here");
  EXPECT_THAT(finding.text, HasSubstr("last written by PE 2 block 0 launch 1"));
}

TEST(Verdict, StaleEpochWhereGridsDiffer) {
  const Finding finding =
      hang(2, [](FiberWorld& world) { barriers(world, 1, world.pe() == 0 ? 2 : 1); });
  EXPECT_EQ(finding.verdict, "stale epoch");
  EXPECT_EQ(finding.why, "grids differ: 2 blocks here, 1 on PE 1, which has no block 1");
}

TEST(Verdict, NotScheduledBehindTheWaitingKernel) {
  const Finding finding = hang(2, [](FiberWorld& world) {
    const Signals signals = counter(world, 1);
    const int pe = world.pe();
    launch(world, [=](FiberBlock& block) {
      if (pe == 0) block.wait_until(signals, 0, std::uint64_t{1});
    });
    launch(world, [=](FiberBlock& block) {
      if (pe == 0) block.signal(signals, 0, 0);
    });
  });
  EXPECT_EQ(finding.verdict, "not scheduled");
  EXPECT_EQ(
      finding.why,
      "PE 0's launch 2 of kernel kernel comes after this one on its stream, and would bring it");
}

TEST(Verdict, NotScheduledWithoutAPlace) {
  const auto program = [](FiberWorld& world) {
    const Signals signals = counter(world, 1);
    launch(
        world,
        [=](FiberBlock& block) {
          if (block.index() < 2) block.wait_until(signals, 0, std::uint64_t{1});
          if (block.index() == 2) block.signal(signals, 0, block.pe());
        },
        3);
  };
  const Finding finding = hang(2, program, 2);
  EXPECT_EQ(finding.verdict, "not scheduled");
  EXPECT_THAT(finding.why, HasSubstr("block 2 of launch 1 of kernel kernel has no place"));
  CheckOptions enough;
  enough.resident_blocks = 3;
  EXPECT_TRUE(run_check(enough, program).clean());
}

TEST(Verdict, ExitedWithoutSignalling) {
  const Finding finding = hang(2, [](FiberWorld& world) {
    const Group group{world.channel({1}), world.team()};
    launch(world, [=](FiberBlock& block) {
      if (block.pe() == 1) block.wait_until(group.channel.steps, 0, group.team.only(0));
    });
  });
  EXPECT_EQ(finding.verdict, "exited");
  EXPECT_EQ(finding.why, "PE 0's block 0 has ended launch 1 without signalling");
}

TEST(Verdict, ExitedWithoutSignallingAgain) {
  const Finding finding = hang(3, [](FiberWorld& world) {
    const Group group{world.channel({1}), world.team()};
    launch(world, [=](FiberBlock& block) {
      barrier(block, group);
      barrier(block, group);
      if (block.pe() != 1) barrier(block, group);
    });
  });
  EXPECT_EQ(finding.verdict, "exited");
  EXPECT_EQ(finding.why,
            "PE 1's block 0 has ended launch 1 without signalling again, after 2 signals");
}

// What was counted before a write still says that it has signalled.
TEST(Verdict, ExitedWithoutSignallingAgainSinceAReset) {
  const Finding finding = hang(2, [](FiberWorld& world) {
    const Signals signals = counter(world, 1);
    launch(world, [=](FiberBlock& block) {
      if (block.pe() == 1) {
        block.signal(signals, 0, 0);
        return;
      }
      block.wait_until(signals, 0, std::uint64_t{1});
      block.put_value(signals.words, 0, std::uint64_t{0}, 0);
      block.quiet();
      block.wait_until(signals, 0, std::uint64_t{1});
    });
  });
  EXPECT_EQ(finding.verdict, "exited");
  EXPECT_EQ(finding.why,
            "PE 1's block 0 has ended launch 1 without signalling again, after 1 signal");
}

TEST(Verdict, ExitedForOneThatIsNoMemberOfTheTeam) {
  const Finding finding = hang(3, [](FiberWorld& world) {
    const Group group{world.channel({1}), Team::strided(world.pe(), 0, 1, 2)};
    launch(world, [=](FiberBlock& block) { barrier(block, group); });
  });
  EXPECT_EQ(finding.verdict, "exited");
  EXPECT_EQ(finding.why,
            "PE 0's block 0 has ended launch 1 without signalling; PE 2 is no member of the team "
            "that it waits for");
  EXPECT_THAT(finding.text,
              HasSubstr("missing: PE 0; PE 2 is no member of the team that it waits for"));
}

TEST(Verdict, ExitedHostThatOthersWaitFor) {
  const Finding finding = hang(2, [](FiberWorld& world) {
    if (world.pe() == 0) world.barrier();
  });
  EXPECT_EQ(finding.verdict, "exited");
  EXPECT_EQ(finding.why, "PE 1's host program has ended and never calls barrier");
}

TEST(Verdict, CycleIsPrintedAsARing) {
  const Finding finding = hang(3, [](FiberWorld& world) {
    const Group group{world.channel({1}), world.team()};
    launch(world, [=](FiberBlock& block) {
      const Team& team = group.team;
      block.wait_until(group.channel.steps, 0, team.only(team.previous()));
      block.signal(group.channel.steps, 0, team.pe(team.next()));
    });
  });
  EXPECT_EQ(finding.verdict, "cycle");
  EXPECT_THAT(finding.why,
              HasSubstr("PE 0 block 0 wait(channel #0 steps slot 0 lane 2) <- PE 2 block 0 wait"));
  EXPECT_EQ(finding.places.size(), 3U);
  EXPECT_THAT(finding.why, testing::Not(HasSubstr("nobody has ever")));
}

// It looks the same as a cycle of signals that are all there.
TEST(Verdict, CycleThatMayBeAMissingSignal) {
  const Finding finding = hang(2, [](FiberWorld& world) {
    const Signals signals = counter(world, 1);
    const Group group{world.channel({1}), world.team()};
    launch(world, [=](FiberBlock& block) {
      if (block.pe() == 0) block.wait_until(signals, 0, std::uint64_t{1});
      barrier(block, group);
    });
  });
  EXPECT_EQ(finding.verdict, "cycle");
  EXPECT_THAT(finding.why,
              HasSubstr("; nobody has ever signalled control allocation #0 slot 0 of PE 0, so its "
                        "signal may be missing altogether"));
}

TEST(Verdict, CycleThroughTheHosts) {
  const Finding finding = hang(2, [](FiberWorld& world) {
    const Signals signals = counter(world, 1);
    const auto waits = [=](FiberBlock& block) { block.wait_until(signals, 0, std::uint64_t{1}); };
    const auto sends = [=](FiberBlock& block) { block.signal(signals, 0, 1 - block.pe()); };
    launch(world, waits);
    world.synchronize();  // before the kernel that the other one waits for
    launch(world, sends);
  });
  EXPECT_EQ(finding.verdict, "cycle");
}

TEST(Verdict, NoProducer) {
  const Finding finding = hang(2, [](FiberWorld& world) {
    const Signals signals = counter(world, 3);
    launch(world, [=](FiberBlock& block) {
      if (block.pe() == 1) block.wait_until(signals, 2, std::uint64_t{1});
    });
  });
  EXPECT_EQ(finding.verdict, "no producer");
  EXPECT_THAT(finding.why,
              HasSubstr("no signal ever went to control allocation #0 slot 2 of PE 1"));
}

// Who waits only for one that waits is told apart from the one that everything hangs on.
TEST(Verdict, TheRootIsNotWhoeverIsBehindIt) {
  const Finding finding = hang(3, [](FiberWorld& world) {
    const Group group{world.channel({1}), world.team()};
    launch(world, [=](FiberBlock& block) {
      const Signals& steps = group.channel.steps;
      if (block.pe() == 2) return;
      if (!block.wait_until(steps, 0, group.team.only(block.pe() + 1))) return;
      if (block.pe() == 1) block.signal(steps, 0, 0);
    });
  });
  EXPECT_EQ(finding.verdict, "exited");
  EXPECT_EQ(finding.places[0].pe, 1);
  EXPECT_THAT(finding.text, HasSubstr("behind: PE 1 block 0"));
}

}  // namespace
}  // namespace sym::check
