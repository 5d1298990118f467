// Hangs in which hosts have a part: what they wrote to a counter, and what they still have to
// launch or to post.
#include "core/collective/barrier.hpp"
#include "tests/unit/verdict_desk.hpp"

namespace sym::check {
namespace {

using testing::Not;

std::string at_line(int line) {
  return "tests/unit/verdict_hosts_test.cpp:" + std::to_string(line) + ")";
}

void write(FiberWorld& world, const Signals& signals, std::uint64_t value,
           Site site = Site::here()) {
  world.write(signals.words, &value, 1, site);
}

// The signal came before the reset, and nobody had waited for it. The host is elsewhere by then.
TEST(Verdict, LostIsASignalThatAResetWipesOut) {
  constexpr int here = __LINE__;
  const Finding finding = hang(2, [](FiberWorld& world) {
    const Signals signals = counter(world, 1);
    launch(world, [=](FiberBlock& block) {
      if (block.pe() == 1) block.signal(signals, 0, 0);
      block.quiet();
    });
    world.synchronize();
    world.barrier();
    write(world, signals, 0);
    world.barrier();
    launch(world, [=](FiberBlock& block) {
      if (block.pe() == 0) block.wait_until(signals, 0, std::uint64_t{1});
    });
    world.mark_us();
  });
  EXPECT_EQ(finding.verdict, "lost");
  EXPECT_EQ(finding.why, "the signal of PE 1 block 0 launch 1 (signal at " + at_line(here + 4) +
                             " came, and PE 0 (World::write at " + at_line(here + 9) +
                             " wiped it out: it set control allocation #0 slot 0 from 1 to 0");
  EXPECT_THAT(finding.text,
              HasSubstr("set by PE 0 (World::write at " + at_line(here + 9) + " to "));
  ASSERT_EQ(finding.places.size(), 3U);
  EXPECT_EQ(finding.places[1].role, "signal");
  EXPECT_EQ(finding.places[2].role, "reset");
}

// A wait had met the signal: what the write took away was nobody's any more.
TEST(Verdict, AResetBehindTheWaitLosesNothing) {
  const Finding finding = hang(2, [](FiberWorld& world) {
    const Signals signals = counter(world, 1);
    const auto round = [=](FiberBlock& block) {
      if (block.pe() == 0) block.wait_until(signals, 0, std::uint64_t{1});
    };
    launch(world, [=](FiberBlock& block) {
      if (block.pe() == 1) block.signal(signals, 0, 0);
      round(block);
    });
    world.synchronize();
    write(world, signals, 0);
    world.barrier();
    launch(world, round);
  });
  EXPECT_EQ(finding.verdict, "exited");
  EXPECT_EQ(finding.why, "PE 1's block 0 has ended launch 2 without signalling");
}

// Nobody has signalled or waited before, so nothing knows yet that it is a counter.
TEST(Verdict, AHostThatSetsACounterIsNamed) {
  constexpr int here = __LINE__;
  const Finding finding = hang(2, [](FiberWorld& world) {
    const Signals signals = counter(world, 1);
    write(world, signals, 3);
    world.barrier();
    if (world.pe() == 0)
      launch(world, [=](FiberBlock& block) { block.wait_until(signals, 0, std::uint64_t{4}); });
    world.local<float>(3);
  });
  const std::string writer = "PE 0 (World::write at " + at_line(here + 3);
  EXPECT_EQ(finding.verdict, "no producer");
  EXPECT_THAT(finding.why, HasSubstr("no signal has gone to control allocation #0 slot 0 of PE 0 "
                                     "since " +
                                     writer + " wrote it"));
  EXPECT_THAT(finding.text, HasSubstr("; set by " + writer + " to 3"));
}

// ... or the kernel that wrote it after the host.
TEST(Verdict, AKernelThatSetsItAfterAHostIsNamed) {
  const Finding finding = hang(1, [](FiberWorld& world) {
    const Signals signals = counter(world, 2);
    write(world, signals, 3);
    launch(world, [=](FiberBlock& block) {
      block.put_value(signals.words, 0, std::uint64_t{2}, 0);
      block.quiet();
    });
    launch(world, [=](FiberBlock& block) { block.wait_until(signals, 0, std::uint64_t{4}); });
  });
  EXPECT_EQ(finding.verdict, "no producer");
  EXPECT_THAT(finding.text, HasSubstr("; set by PE 0 block 0 launch 1 (put_value at "));
  EXPECT_THAT(finding.text, Not(HasSubstr("World::write")));
}

// --- hosts that meet the others before they launch -----------------------------------------------

constexpr const char* through_host =
    "PE 0 host synchronize: its launches have not ended <- PE 0 block 0 wait(control allocation #0 "
    "slot 0) <- PE 1 host ";
constexpr const char* may_be_missing =
    " <- PE 0 host; nobody has ever signalled control allocation #0 slot 0 of PE 0, so its signal "
    "may be missing altogether";

TEST(Verdict, CycleThroughAHostThatIsToLaunchWhatCounts) {
  const Finding finding = hang(2, [](FiberWorld& world) {
    const Signals signals = counter(world, 1);
    if (world.pe() == 0) {
      launch(world, [=](FiberBlock& block) { block.wait_until(signals, 0, std::uint64_t{1}); });
      world.synchronize();
    }
    world.barrier();
    if (world.pe() == 1) launch(world, [=](FiberBlock& block) { block.signal(signals, 0, 0); });
  });
  EXPECT_EQ(finding.verdict, "cycle");
  EXPECT_EQ(finding.why, std::string(through_host) + "barrier" + may_be_missing);
}

TEST(Verdict, CycleThroughAFree) {
  const Finding finding = hang(2, [](FiberWorld& world) {
    const Signals signals = counter(world, 1);
    const auto window = world.allocate<float>(8);
    if (world.pe() == 0)
      launch(world, [=](FiberBlock& block) { block.wait_until(signals, 0, std::uint64_t{1}); });
    world.free(window);
    if (world.pe() == 1) launch(world, [=](FiberBlock& block) { block.signal(signals, 0, 0); });
  });
  EXPECT_EQ(finding.verdict, "cycle");
  EXPECT_THAT(finding.why, HasSubstr("PE 1 host free of offset "));
  EXPECT_THAT(finding.why, HasSubstr(may_be_missing));
}

// It has begun as many launches as the other, but not of that kernel.
TEST(Verdict, CycleThroughAHostThatHasLaunchedSomethingElse) {
  const Finding finding = hang(2, [](FiberWorld& world) {
    const Signals signals = counter(world, 1);
    const bool waits = world.pe() == 0;
    world.launch({.name = waits ? "waits" : "other"}, [=](FiberBlock& block) {
      if (waits) block.wait_until(signals, 0, std::uint64_t{1});
    });
    world.synchronize();
    world.barrier();
    if (!waits) launch(world, [=](FiberBlock& block) { block.signal(signals, 0, 0); });
  });
  EXPECT_EQ(finding.verdict, "cycle");
}

// All launch alike and meet at the end: PE 1 has been through the kernel without the signal.
TEST(Verdict, NoProducerWhereTheHostsMeetBehindTheLaunch) {
  const Finding finding = hang(2, [](FiberWorld& world) {
    const Signals signals = counter(world, 1);
    launch(world, [=](FiberBlock& block) {
      if (block.pe() == 0) block.wait_until(signals, 0, std::uint64_t{1});
    });
    world.synchronize();
    world.barrier();
  });
  EXPECT_EQ(finding.verdict, "no producer");
}

// PE 1 posts `before` times, and once more when the hosts have met; PE 0 takes as often before.
Finding post_behind_a_barrier(int before) {
  return hang(2, [=](FiberWorld& world) {
    const Posts posts = world.posts(1);
    const auto exchange = [&] {
      if (world.pe() == 0) world.queue(0).take(posts, 0, 1);
      if (world.pe() == 1) world.queue(0).post(posts, 0, 0);
      world.synchronize();
    };
    for (int i = 0; i < before; ++i) {
      exchange();
      world.barrier();
    }
    if (world.pe() == 1) world.barrier();
    exchange();
    if (world.pe() == 0) world.barrier();
  });
}

TEST(Verdict, CycleThroughAHostThatIsToPost) {
  const Finding first = post_behind_a_barrier(0);
  EXPECT_EQ(first.verdict, "cycle");
  EXPECT_THAT(first.why,
              HasSubstr(" <- PE 1 host barrier <- PE 0 host; PE 1 has never posted posts "
                        "#0 slot 0 of PE 0, so its post may be missing altogether"));
  const Finding second = post_behind_a_barrier(1);
  EXPECT_EQ(second.verdict, "cycle");
  EXPECT_THAT(second.why, Not(HasSubstr("missing")));
}

// A queue that has ended and has never posted the flag has probably left it out.
TEST(Verdict, ExitedWhereAQueueLeavesOutItsPost) {
  const Finding finding = hang(2, [](FiberWorld& world) {
    const Posts posts = world.posts(1);
    if (world.pe() == 0) world.queue(0).post(posts, 0, 1);
    world.queue(0).take(posts, 0, 1 - world.pe());
    world.synchronize();
    world.barrier();
  });
  EXPECT_EQ(finding.verdict, "exited");
  EXPECT_EQ(finding.why,
            "PE 1's queue 0 has ended all its operations without it; its host is in barrier");
}

}  // namespace
}  // namespace sym::check
