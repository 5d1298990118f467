// What a race's finding advises, for each kind of pair: only what can work for it.
#include "backends/check/race_why.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sym::check {
namespace {

using fiber::Verb;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr int host = -1;

Access access(int pe, int block, Verb verb, bool write) {
  Access one;
  one.agent = pe * 100 + block + 1;
  one.pe = pe;
  one.block = block;
  one.verb = verb;
  one.write = write;
  return one;
}
Access by_host(int pe, bool write = true) { return access(pe, host, Verb::host, write); }
Access direct(int pe, int block, bool write) { return access(pe, block, Verb::transform, write); }
// A transfer, to_pe as fences know it: -1 for gets.
Access transfer(int pe, int to_pe, bool write, Verb verb = Verb::put, int block = 0) {
  Access one = access(pe, block, verb, write);
  one.order = 1;
  one.to_pe = to_pe;
  return one;
}
Access by_queue(int pe, int queue, bool write) {
  Access one = access(pe, 0, Verb::queue_put, write);
  one.agent += 50 + queue;
  one.queue = one.stream = queue;
  return one;
}
std::string fix(const Access& earlier, const Access& later) {
  return why_unordered(earlier, later, WeakWait{}, false).fix;
}
std::string why(const Access& earlier, const Access& later) {
  return why_unordered(earlier, later, WeakWait{}, false).why;
}

TEST(RaceWhy, TransfersOfOneIssuer) {
  for (const Verb first : {Verb::put, Verb::put_signal, Verb::put_value}) {
    for (const Verb second : {Verb::put, Verb::put_signal, Verb::put_value}) {
      EXPECT_EQ(fix(transfer(0, 1, true, first), transfer(0, 1, true, second)),
                "call fence(1) between the two");
    }
  }
  // Fences order no gets, and nothing to another PE.
  EXPECT_EQ(fix(transfer(0, 1, true), transfer(0, -1, false, Verb::get)),
            "call quiet() between the two");
  EXPECT_EQ(fix(transfer(0, -1, true, Verb::get), transfer(0, 1, false)),
            "call quiet() between the two");
  EXPECT_EQ(fix(transfer(0, 1, false), transfer(0, 0, true)), "call quiet() between the two");
  // Its own lanes.
  EXPECT_EQ(fix(transfer(0, 1, false), direct(0, 0, true)), "call quiet() between the two");
  EXPECT_EQ(fix(direct(0, 0, true), transfer(0, 1, false)), "call quiet() before the transform");
}

TEST(RaceWhy, TwoIssuersOfOnePlace) {
  for (const Verb first : {Verb::put, Verb::put_signal}) {
    for (const Verb second : {Verb::put, Verb::put_signal}) {
      const Access one = transfer(0, 2, true, first);
      const Access other = transfer(1, 2, true, second);
      EXPECT_THAT(fix(one, other), AllOf(HasSubstr("a place of its own"), HasSubstr("quiet()"),
                                         HasSubstr("PE 1"), Not(HasSubstr("fence("))));
      EXPECT_THAT(why(one, other), HasSubstr("two issuers write the same memory"));
      EXPECT_THAT(fix(one, transfer(0, 2, true, second, 1)), HasSubstr("to its block"));
    }
  }
}

TEST(RaceWhy, ATransferAndWhoItIsFor) {
  for (const Access& reader : {direct(1, 0, false), transfer(1, 0, false)}) {
    EXPECT_THAT(fix(transfer(0, 1, true), reader),
                AllOf(HasSubstr("fence(1) or quiet() before the signal"), HasSubstr("put_signal")));
  }
  // Somebody else hears of it by a signal of its own, which only quiet() goes before; no fence and
  // no put_signal is about a get or a source.
  EXPECT_THAT(fix(transfer(0, 2, false), direct(1, 0, true)),
              AllOf(HasSubstr("quiet() before a signal to PE 1"), Not(HasSubstr("fence")),
                    Not(HasSubstr("put_signal"))));
  EXPECT_THAT(fix(transfer(0, -1, false, Verb::get), direct(1, 0, true)),
              AllOf(HasSubstr("quiet() before a signal to PE 1"), Not(HasSubstr("fence"))));
}

// A write that the transfer may have been meant to come after.
TEST(RaceWhy, ATransferAndAWrite) {
  for (const Verb verb : {Verb::put, Verb::put_signal}) {
    EXPECT_THAT(fix(transfer(0, 1, true, verb), direct(1, 0, true)),
                AllOf(HasSubstr("signal"), HasSubstr("must come after this transform: a barrier")));
    Access next = transfer(0, 1, true, verb);
    next.launch = 2;
    next.launch_name = "puts";
    Access before = direct(1, 0, true);
    before.launch = 1;
    EXPECT_THAT(fix(next, before), HasSubstr("as the numbers of the launches say: put a barrier"));
    std::swap(next.launch, before.launch);
    EXPECT_THAT(fix(next, before), Not(HasSubstr("numbers of the launches")));
  }
}

// What the issuer calls already is no advice.
TEST(RaceWhy, WhatTheIssuerHasCalled) {
  const Access put = transfer(0, 1, true);
  const Access reader = direct(1, 0, false);
  const auto told = [&](const Access& one, const Behind& behind) {
    return why_unordered(one, reader, {}, false, behind);
  };
  Behind behind;
  behind.other = "block 1 of PE 0";
  EXPECT_THAT(told(put, behind).fix, HasSubstr("let block 0 call quiet() itself"));
  EXPECT_THAT(told(put, behind).why, Not(HasSubstr("stream")));
  behind.other_stream = 3;
  EXPECT_THAT(
      told(put, behind).why,
      HasSubstr("block 1 of PE 0 on stream 3 completes no transfer of block 0 on stream 0"));
  behind.fence = true;
  EXPECT_THAT(told(put, behind).fix, HasSubstr("quiet() in place of fence(1)"));
  EXPECT_THAT(told(transfer(0, 2, false), behind).fix, HasSubstr("block 0"));
  behind.quiet = true;
  EXPECT_THAT(told(put, behind).why, HasSubstr("has called quiet(), but no signal, barrier"));
  EXPECT_THAT(told(put, behind).why, Not(HasSubstr("packets")));
  behind.packets = true;
  EXPECT_THAT(told(put, behind).why, HasSubstr("a message of packets"));
  behind.flag = Call{Call::Kind::flag, 1, 2, Verb::fetch_add, Site{"kernel.hpp", 7}};
  EXPECT_THAT(told(put, behind).why, HasSubstr("the fetch_add at kernel.hpp:7"));
  // One that carries its signal has nothing to be told of but that.
  EXPECT_THAT(told(transfer(0, 1, true, Verb::put_signal), behind).fix,
              HasSubstr("wait for the signal of this put_signal"));
}

TEST(RaceWhy, ATransferAndTheHostOfAnotherPE) {
  for (const Access& one : {transfer(0, 1, true), transfer(0, -1, false, Verb::get)}) {
    EXPECT_THAT(fix(one, by_host(1)),
                AllOf(HasSubstr("call quiet() before the launch ends"),
                      HasSubstr("PE 0 synchronize() before the hosts meet in World::barrier()")));
    Behind behind;
    behind.told = true;  // by a signal that nothing puts it before
    EXPECT_THAT(why_unordered(one, by_host(1), {}, false, behind).fix,
                AllOf(HasSubstr("quiet() before"), Not(HasSubstr("World::barrier()"))));
    behind.quiet = true;
    EXPECT_THAT(why_unordered(one, by_host(1), {}, false, behind).fix,
                AllOf(Not(HasSubstr("call quiet()")), HasSubstr("World::barrier()")));
  }
}

TEST(RaceWhy, ATransferOfItsOwnPEThatIsComplete) {
  Behind behind;
  behind.quiet = true;
  const Access put = transfer(0, 1, false);
  const auto told = [&](const Access& later) {
    const Why why = why_unordered(put, later, {}, false, behind);
    EXPECT_THAT(why.why, HasSubstr("its block has called quiet(), but nothing orders that"));
    return why.fix;
  };
  EXPECT_EQ(told(by_host(0)), "call synchronize() before the host touches it");
  EXPECT_THAT(told(by_queue(0, 1, true)), HasSubstr("record() a mark behind the launch"));
  EXPECT_THAT(told(direct(0, 1, true)), HasSubstr("signal the other one after the quiet()"));
}

// It carries a signal already: what is missing is the wait.
TEST(RaceWhy, APutSignalThatNobodyHasWaitedFor) {
  const Access put_signal = transfer(0, 1, true, Verb::put_signal);
  EXPECT_THAT(why(put_signal, direct(1, 0, false)), HasSubstr("waited neither for its signal"));
  EXPECT_THAT(fix(put_signal, direct(1, 0, false)),
              AllOf(HasSubstr("let PE 1 wait for the signal"), Not(HasSubstr("carry it"))));
  EXPECT_THAT(fix(direct(1, 0, false), put_signal),
              AllOf(HasSubstr("PE 1 wait for the signal"), Not(HasSubstr("let its issuer"))));
}

TEST(RaceWhy, ATransferOfALaterRound) {
  Access next = transfer(0, 1, true, Verb::put_signal);
  next.last_round.agent = next.agent;
  const Access reader = direct(1, 0, false);
  for (const Why& why :
       {why_unordered(next, reader, {}, true), why_unordered(reader, next, {}, true)}) {
    EXPECT_THAT(why.why, HasSubstr("this put_signal is of a later round than PE 1 has waited for"));
    EXPECT_THAT(why.fix, HasSubstr("let PE 1 signal back to PE 0"));
  }
}

// The other way round: it may be late, or too early.
TEST(RaceWhy, AnAccessAndATransferThatComesAfter) {
  EXPECT_THAT(fix(by_host(1, false), transfer(0, 1, true)),
              AllOf(HasSubstr("must come after: a barrier or a signal is missing before it"),
                    HasSubstr("PE 0 synchronize() before the hosts meet in World::barrier()")));
  for (const Access& reader : {direct(1, 0, false), by_queue(1, 1, false)}) {
    EXPECT_THAT(fix(reader, transfer(0, 1, true)),
                AllOf(HasSubstr("must come after: a barrier or a signal is missing before it"),
                      HasSubstr("fence(1) or quiet() before the signal that PE 1 waits for")));
  }
  EXPECT_THAT(fix(direct(1, 0, true), transfer(0, -1, false, Verb::get)),
              AllOf(HasSubstr("quiet() before the signal that PE 1"), Not(HasSubstr("fence"))));
  EXPECT_THAT(fix(direct(0, 1, true), transfer(0, 1, false)),
              AllOf(HasSubstr("quiet()"), HasSubstr("only its own parts")));
}

TEST(RaceWhy, TheHostAndItsOwnDevice) {
  // What a kernel leaves under way, no synchronize() completes.
  for (const Access& left : {transfer(0, 1, false), transfer(0, -1, true, Verb::get)}) {
    EXPECT_THAT(fix(left, by_host(0)), AllOf(HasSubstr("quiet() before the launch ends"),
                                             HasSubstr("synchronize()"), Not(HasSubstr("fence"))));
    EXPECT_THAT(fix(by_host(0), left),
                AllOf(HasSubstr("quiet() before the launch ends"), HasSubstr("synchronize()")));
  }
  for (const Access& done : {direct(0, 0, true), by_queue(0, 1, true)}) {
    EXPECT_EQ(fix(done, by_host(0)), "call synchronize() before the host touches it");
    EXPECT_THAT(fix(by_host(0), done),
                AllOf(HasSubstr("before it enqueues this"), HasSubstr("synchronize()")));
    EXPECT_THAT(why(done, by_host(0)), Not(HasSubstr("blocks of one PE")));
  }
}

TEST(RaceWhy, TheHostAndAnotherPEsDevice) {
  for (const Access& device : {direct(1, 0, false), by_queue(1, 1, false)}) {
    EXPECT_THAT(fix(device, by_host(0)),
                AllOf(HasSubstr("PE 1 synchronize() before the hosts meet in World::barrier()"),
                      HasSubstr("end the kernel with a barrier")));
    EXPECT_THAT(fix(by_host(0), device), AllOf(HasSubstr("begin the kernel with a barrier"),
                                               HasSubstr("before PE 1 launches")));
  }
}

TEST(RaceWhy, Queues) {
  EXPECT_THAT(fix(by_queue(0, 1, true), by_queue(0, 2, false)), HasSubstr("record() a mark"));
  EXPECT_THAT(fix(by_queue(0, 1, true), direct(0, 0, false)), HasSubstr("record() a mark"));
  EXPECT_THAT(fix(direct(0, 0, true), by_queue(0, 1, false)), HasSubstr("record() a mark"));
  EXPECT_THAT(fix(by_queue(0, 1, true), by_queue(1, 1, false)), HasSubstr("post a flag to PE 1"));
  Access elsewhere = direct(0, 0, true);
  elsewhere.stream = 3;
  elsewhere.agent += 10;
  EXPECT_THAT(fix(elsewhere, direct(0, 0, true)), HasSubstr("record() a mark"));
  // A kernel's transfer is not complete when its launch has ended: a mark says nothing of it.
  EXPECT_THAT(fix(transfer(0, 1, false), by_queue(0, 1, true)),
              AllOf(HasSubstr("quiet() before the launch ends"), Not(HasSubstr("record()"))));
}

TEST(RaceWhy, Blocks) {
  EXPECT_THAT(why(direct(0, 0, true), direct(0, 1, false)),
              HasSubstr("different blocks of one PE"));
  EXPECT_THAT(fix(direct(0, 0, true), direct(1, 0, false)), HasSubstr("a barrier or a signal"));
  // The same block index of the next launch.
  Access next = direct(0, 0, true);
  next.agent += 10;
  next.launch = 2;
  EXPECT_THAT(fix(transfer(0, 1, false), next), HasSubstr("quiet() before the launch ends"));
  Access piece = direct(0, 0, true);
  piece.piece = 1;
  EXPECT_THAT(fix(direct(0, 0, true), piece), HasSubstr("let each piece write only"));
}

}  // namespace
}  // namespace sym::check
