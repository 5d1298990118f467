// What findings say of whole programs: what is missing, and not what the program does already.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "backends/check/user.hpp"
#include "core/collective/barrier.hpp"

// Its own names, beside those of the other tests of the checker.
namespace sym::check::texts {
namespace {

using fiber::FiberBlock;
using fiber::FiberWorld;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr std::size_t n = 16;
constexpr Range all{0, n};

struct Desk {
  Window<float> from, to;
  Signals counter;
  Group group;

  explicit Desk(FiberWorld& world) {
    from = world.allocate<float>(n);
    to = world.allocate<float>(n);
    counter.words = world.allocate_control<std::uint64_t>(2);
    counter.slots = 2;
    group = {world.channel({.blocks = 2, .packet_bytes = 4 * n}), world.team()};
  }
};
struct One {
  float operator()() const { return 1; }
  float operator()(float x) const { return x; }
};

std::vector<fiber::Finding> findings_of(int pes, const Program& program) {
  CheckOptions options;
  options.pes = pes;
  return check_program(options, program).findings;
}
// The first finding of a program that has one.
fiber::Finding finding_of(int pes, const Program& program) {
  const auto findings = findings_of(pes, program);
  EXPECT_FALSE(findings.empty());
  return findings.empty() ? fiber::Finding{} : findings[0];
}
template <class Kernel>
fiber::Finding in_kernel(int pes, Kernel kernel, int blocks = 1) {
  return finding_of(pes, [=](FiberWorld& world) {
    const Desk desk(world);
    LaunchConfig config;
    config.name = "texts";
    config.blocks = blocks;
    config.scratch_bytes = 4 * n;
    world.launch(config, [=](FiberBlock& block) { kernel(block, desk); });
  });
}

// --- races whose transfers their issuer has completed ----------------------------------------

TEST(RaceTexts, AVerbThatMakesNoEdgeIsNamed) {
  const fiber::Finding added = in_kernel(2, [](FiberBlock& b, const Desk& d) {
    if (b.pe() == 0) {
      b.put(d.to, d.from, all, 1);
      b.quiet();
      b.fetch_add(d.counter.words, 0, std::uint64_t{1}, 1);
    } else {
      b.wait_until(d.counter, 0, std::uint64_t{1});
      (void)b.sum(d.to, all, One{});
    }
  });
  EXPECT_THAT(added.why, AllOf(HasSubstr("the fetch_add at tests/unit/check_texts_test.cpp:"),
                               HasSubstr("makes no edge")));
  EXPECT_THAT(added.fix, HasSubstr("use signal in place of the fetch_add"));
  const fiber::Finding put = in_kernel(2, [](FiberBlock& b, const Desk& d) {
    if (b.pe() == 0) {
      b.put(d.to, d.from, all, 1);
      b.fence(1);
      b.put_value(d.counter.words, 0, std::uint64_t{1}, 1);
      b.quiet();
    } else {
      b.wait_until(d.counter, 0, std::uint64_t{1});
      (void)b.sum(d.to, all, One{});
    }
  });
  EXPECT_THAT(put.fix, HasSubstr("use signal in place of the put_value"));
}

TEST(RaceTexts, PacketsBringNothingButThemselves) {
  const fiber::Finding finding = in_kernel(3, [](FiberBlock& b, const Desk& d) {
    const Packets& inbox = d.group.channel.inbox;
    if (b.pe() == 0) {
      b.put(d.to, d.from, all, 2);
      b.quiet();
      b.put_packets(inbox, 0, d.from, all, d.group.team.only(1));
    } else if (b.pe() == 1) {
      b.reduce_packets(d.to, d.from, all, inbox, 0, Team::strided(1, 0, 1, 2), Sum{});
      b.signal(d.counter, 0, 2);
    } else {
      b.wait_until(d.counter, 0, std::uint64_t{1});
      (void)b.sum(d.to, all, One{});
    }
    b.quiet();
  });
  EXPECT_THAT(finding.why, AllOf(HasSubstr("its issuer has called quiet(), but no signal"),
                                 HasSubstr("a message of packets brings nothing but itself")));
  EXPECT_THAT(finding.fix, HasSubstr("let the issuer signal after quiet()"));
}

// PE 1 tells PE 2 of it: its own quiet comes after the signal.
TEST(RaceTexts, AFenceForOnePEAndASignalToAnother) {
  const fiber::Finding finding = in_kernel(3, [](FiberBlock& b, const Desk& d) {
    if (b.pe() == 0) {
      b.put(d.to, d.from, all, 2);
      b.fence(2);
      b.signal(d.counter, 0, 1);
      b.quiet();
    } else {
      b.wait_until(d.counter, 0, std::uint64_t{1});
      if (b.pe() == 1) b.signal(d.counter, 0, 2);
      if (b.pe() == 2) (void)b.sum(d.to, all, One{});
    }
  });
  EXPECT_THAT(finding.why, HasSubstr("not before a signal to another PE"));
  EXPECT_THAT(finding.fix, HasSubstr("call quiet() in place of fence(2)"));
}

TEST(RaceTexts, AFenceAndAPost) {
  const fiber::Finding finding = finding_of(2, [](FiberWorld& world) {
    const Desk d(world);
    const Posts posts = world.posts(1);
    auto& queue = world.queue(0);
    const int peer = 1 - world.pe();
    queue.launch({.name = "puts"}, [=](FiberBlock& b) {
      b.put(d.to, d.from, all, peer);
      b.fence(peer);
    });
    queue.post(posts, 0, peer);
    queue.take(posts, 0, peer);
    queue.launch({.name = "reads"}, [=](FiberBlock& b) { (void)b.sum(d.to, all, One{}); });
  });
  EXPECT_THAT(finding.why, HasSubstr("a queue's post"));
  EXPECT_THAT(finding.fix, HasSubstr("call quiet() in place of fence("));
}

TEST(RaceTexts, AHostThatHasNotWaited) {
  const auto program = [](bool quiet) {
    return finding_of(2, [quiet](FiberWorld& world) {
      const Desk d(world);
      world.launch({.name = "puts"}, [=](FiberBlock& b) {
        b.put(d.to, d.from, all, 1 - b.pe());
        if (quiet) b.quiet();
      });
      world.barrier();
      float got[n];
      world.read(got, d.to, n);
    });
  };
  for (const bool quiet : {false, true}) {
    EXPECT_THAT(program(quiet).fix,
                AllOf(HasSubstr("synchronize() before the hosts meet in World::barrier()"),
                      Not(HasSubstr("put_signal"))));
  }
  EXPECT_THAT(program(false).fix, HasSubstr("call quiet() before the launch ends"));
  EXPECT_THAT(program(true).fix, Not(HasSubstr("call quiet()")));
}

TEST(RaceTexts, AQuietOfAnotherBlock) {
  const fiber::Finding finding = in_kernel(
      2,
      [](FiberBlock& b, const Desk& d) {
        const int peer = 1 - b.pe();
        if (b.index() == 0) {
          b.put(d.to, d.from, all, peer);
          b.signal(d.counter, 0, b.pe());
        } else {
          b.wait_until(d.counter, 0, std::uint64_t{1});
          b.quiet();
          b.signal(d.group.channel.steps, 1, peer);
          b.wait_until(d.group.channel.steps, 1, d.group.team);
          (void)b.sum(d.to, all, One{});
        }
      },
      2);
  EXPECT_THAT(finding.why, AllOf(HasSubstr("the quiet() of block 1 of PE "),
                                 HasSubstr("completes no transfer of block 0")));
  EXPECT_THAT(finding.fix, HasSubstr("let block 0 call quiet() itself"));
}

// Who waits for the transfer first would wipe out what it brings.
TEST(RaceTexts, ATransferOfALaterLaunchThatCameFirst) {
  const fiber::Finding finding = finding_of(2, [](FiberWorld& world) {
    const Desk d(world);
    world.launch({.name = "zero"}, [=](FiberBlock& b) { b.transform(d.to, all, One{}); });
    world.launch({.name = "puts"}, [=](FiberBlock& b) {
      const Team team = d.group.team;
      b.put_signal(d.to, d.from, all, d.group.channel.steps, 0, team.pe(team.next()));
      b.wait_until(d.group.channel.steps, 0, team);
      b.quiet();
    });
  });
  EXPECT_THAT(finding.text, HasSubstr("RACE  put_signal vs transform"));
  EXPECT_THAT(finding.why, HasSubstr("launch 2 (puts) does not wait for launch 1 (zero) of PE"));
  EXPECT_THAT(finding.fix, AllOf(HasSubstr("put a barrier at the end of the earlier launch"),
                                 HasSubstr("if before: let PE")));
}

TEST(RaceTexts, LocalArraysHaveNumbersAndBytes) {
  const fiber::Finding finding = finding_of(1, [](FiberWorld& world) {
    (void)world.local<float>(n);
    const auto local = world.local<float>(n);
    world.launch({.name = "writes", .stream = 1}, [=](FiberBlock& b) {
      b.transform(local, Range{4, 8}, One{});
    });
    float got[n];
    world.read(got, local, n);
  });
  EXPECT_THAT(finding.text, HasSubstr("local array #1 of PE 0 bytes ["));
}

// --- syncs and scratch -----------------------------------------------------------------------

TEST(Texts, APieceHasNoSyncToCall) {
  const fiber::Finding finding = in_kernel(1, [](FiberBlock& b, const Desk& d) {
    b.warps(1, [&](auto& piece, std::size_t) {
      piece.weighted_sum(d.to, d.from, Range{0, 8}, 1, [](int) { return Term{0, 0, 1.F}; });
      piece.put(d.from, d.to, Range{4, 4}, 0);
    });
    b.quiet();
  });
  EXPECT_EQ(finding.kind, "missing-sync");
  EXPECT_THAT(finding.fix, HasSubstr("end the warps() between the two"));
  EXPECT_THAT(finding.text, Not(HasSubstr("call sync()")));
}

TEST(Texts, ScratchIsOfABlock) {
  const fiber::Finding finding = in_kernel(
      1,
      [](FiberBlock& b, const Desk&) {
        const Scratch<float> scratch{0, n};
        if (b.index() == 0) b.transform(scratch, all, One{});
        if (b.index() == 1) (void)b.sum(scratch, all, One{});
      },
      2);
  EXPECT_THAT(finding.text, HasSubstr("of which this block has written none"));
}

// --- hosts -----------------------------------------------------------------------------------

TEST(Texts, AnOpenCaptureIsNotWhatHasThrown) {
  for (const Program& program : {Program([](FiberWorld& world) {
                                   world.begin_capture();
                                   world.begin_capture();
                                 }),
                                 Program([](FiberWorld& world) {
                                   world.begin_capture();
                                   world.replay(GraphId{0});
                                 })}) {
    const auto findings = findings_of(1, program);
    ASSERT_EQ(findings.size(), 1U);
    EXPECT_EQ(findings[0].kind, "exception");
  }
}

TEST(Texts, AQueueOperationIsWhereTheHostIs) {
  const auto text = [](const std::function<void(fiber::FiberQueue&, const Desk&)>& call) {
    return finding_of(1,
                      [call](FiberWorld& world) {
                        const Desk desk(world);
                        auto& queue = world.queue(0);
                        (void)world.local<float>(1);
                        call(queue, desk);
                      })
        .text;
  };
  const std::string last = "last   PE 0 host  ";
  const std::string here = " at tests/unit/check_texts_test.cpp:";
  EXPECT_THAT(text([](fiber::FiberQueue& queue, const Desk& d) {
                queue.put(row_of(d.to, 0, 4), row_of(d.from, 0, 5), 0);
              }),
              HasSubstr(last + "Queue::put" + here));
  EXPECT_THAT(text([](fiber::FiberQueue& queue, const Desk& d) {
                queue.get(row_of(d.to, 0, 4), row_of(d.from, 0, 4), 7);
              }),
              HasSubstr(last + "Queue::get" + here));
  EXPECT_THAT(text([](fiber::FiberQueue& queue, const Desk&) {
                queue.launch({.blocks = 0}, [](FiberBlock&) {});
              }),
              HasSubstr(last + "Queue::launch" + here));
  EXPECT_THAT(text([](fiber::FiberQueue& queue, const Desk&) { queue.gemm(Gemm<float>{}); }),
              HasSubstr(last + "Queue::gemm" + here));
  EXPECT_THAT(text([](fiber::FiberQueue& queue, const Desk&) { queue.prepare(Gemm<float>{}); }),
              HasSubstr(last + "Queue::prepare" + here));
  EXPECT_THAT(text([](fiber::FiberQueue& queue, const Desk&) { queue.post(Posts{}, 0, 0); }),
              HasSubstr(last + "Queue::post" + here));
  EXPECT_THAT(text([](fiber::FiberQueue& queue, const Desk&) { queue.take(Posts{}, 0, 0); }),
              HasSubstr(last + "Queue::take" + here));
  EXPECT_THAT(text([](fiber::FiberQueue& queue, const Desk&) { queue.after(Mark{77}); }),
              HasSubstr(last + "Queue::after" + here));
}

TEST(Texts, AQueueThatCannotBeIsRefusedAtOnce) {
  for (const int number : {-3, 1 << 20}) {
    EXPECT_THAT(finding_of(1, [number](FiberWorld& world) { (void)world.queue(number); }).text,
                AllOf(HasSubstr("queue " + std::to_string(number) + "; 0 to "),
                      HasSubstr("host  World::queue at")));
  }
}

TEST(Texts, ACallOfAKernelThatIsNoVerbComesAfterItsLast) {
  const fiber::Finding finding = finding_of(1, [](FiberWorld& world) {
    world.launch({.name = "calls"}, [&world](FiberBlock& b) {
      b.sync();
      world.barrier();
    });
    world.synchronize();
  });
  EXPECT_THAT(finding.text, AllOf(HasSubstr("World::barrier is called from inside a kernel"),
                                  HasSubstr("\n  after  PE 0 block 0  launch 1 (calls)  sync at")));
}

TEST(Texts, RefusalsSayWhatToDo) {
  const fiber::Finding beyond = in_kernel(1, [](FiberBlock& b, const Desk& d) {
    (void)b.sum(d.to, Range{0, n + 1}, One{});
  });
  EXPECT_THAT(beyond.text, HasSubstr("ERROR out of bounds:"));
  EXPECT_THAT(beyond.fix, HasSubstr("take ranges from the window's count"));
  const fiber::Finding overlap = in_kernel(1, [](FiberBlock& b, const Desk& d) {
    b.put(d.to, d.to.at(1), Range{0, 4}, 0);
    b.quiet();
  });
  EXPECT_THAT(overlap.why, HasSubstr("within one verb"));
  const fiber::Finding freed = finding_of(1, [](FiberWorld& world) {
    const Desk d(world);
    world.free(d.to);
    world.launch({.name = "reads"}, [=](FiberBlock& b) { (void)b.sum(d.to, all, One{}); });
  });
  EXPECT_THAT(freed.text, AllOf(HasSubstr("ERROR use after free:"), HasSubstr("\n  fix    ")));
  EXPECT_THAT(freed.fix, HasSubstr("no launch touches it any more"));
}

TEST(Texts, PEsThatDisagreeAreToldOfTheirOwnCalls) {
  EXPECT_THAT(finding_of(2,
                         [](FiberWorld& world) {
                           (void)world.channel({.blocks = 1 + world.pe(), .packet_bytes = 16});
                         })
                  .text,
              AllOf(HasSubstr("channel of 1 blocks, 16 packet bytes"),
                    HasSubstr("channel of 2 blocks, 16 packet bytes")));
  EXPECT_THAT(
      finding_of(2, [](FiberWorld& world) { (void)world.posts(world.pe() == 0 ? 3 : 4); }).text,
      AllOf(HasSubstr("posts of 3 slots"), HasSubstr("posts of 4 slots")));
}

}  // namespace
}  // namespace sym::check::texts
