// Words of a signal table that other verbs touch as well: reset, read, put to, added to. Under the
// checker each is worth what it is on threads, or a finding.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "backends/check/run.hpp"
#include "backends/thread/world.hpp"
#include "core/collective/barrier.hpp"

namespace sym::check {
namespace {

using testing::HasSubstr;

constexpr std::size_t n = 64;
constexpr Range all{0, n};
constexpr Range one{0, 1};
using F = fiber::FiberBlock;
using Number = std::uint64_t;

struct Zero {
  Number operator()() const { return 0; }
};
struct Same {
  float operator()(float a) const { return a; }
};

struct Table {
  Signals counter;
  Group group;
  Window<float> x, y;
  template <class W>
  explicit Table(W& world)
      : group{world.channel({1}), world.team()},
        x(world.template allocate<float>(n)),
        y(world.template allocate<float>(n)) {
    counter.words = world.template allocate_control<Number>(2);
    counter.slots = 2;
  }
};
template <class B>
void use(B& block, const Table& t) {
  block.transform(t.y, all, Same{}, t.x);
}

struct Found {
  std::string kinds, text;
};
// What every schedule says of a program: they must agree.
template <class Program>
Found judged(const Program& program, int pes = 2) {
  Found result;
  for (const std::string schedule : {"fifo", "worst", "random", "random", "random", "pct"}) {
    static Number seed = 0;
    CheckOptions options;
    options.pes = pes;
    options.schedule = schedule;
    options.seed = ++seed;
    const CheckReport report = run_check(options, program);
    std::string kinds;
    for (const auto& finding : report.findings)
      kinds += (kinds.empty() ? "" : " ") + finding.kind + finding.verdict;
    if (schedule == "fifo") result = {kinds, report.text()};
    if (kinds != result.kinds) result.kinds += ", but " + schedule + ": " + kinds;
  }
  return result;
}
// Of a kernel of one block on every PE.
template <class Kernel>
Found of_kernel(const Kernel& kernel, int pes = 2) {
  return judged(
      [&](fiber::FiberWorld& world) {
        const Table t(world);
        world.launch({.name = "words"}, [=](F& block) { kernel(block, t); });
      },
      pes);
}

// --- a counter that is set back ------------------------------------------------------------------

// Two launches that both wait for the first signal: the host clears the counter between them.
struct ClearedByHost {
  bool clears, meets;
  std::vector<Number>* seen;
  template <class W>
  void operator()(W& world) const {
    const Table t(world);
    for (int round = 0; round < 2; ++round) {
      world.launch({.name = "counts"}, [t, seen = seen](auto& block) {
        if (block.pe() == 1) {
          block.put_signal(t.x, t.y, all, t.counter, 0, 0);
          block.quiet();
        } else {
          seen->push_back(block.wait_until(t.counter, 0, Number{1}));
          use(block, t);
        }
      });
      world.synchronize();
      world.barrier();
      const Number zeros[2] = {0, 0};
      if (clears) world.write(t.counter.words, zeros, 2);
      if (meets) world.barrier();
    }
  }
};
TEST(Words, AHostMayClearACounter) {
  std::vector<Number> seen;
  EXPECT_EQ(judged(ClearedByHost{true, true, &seen}).kinds, "");
  EXPECT_THAT(seen, testing::Each(1));
}
TEST(Words, OnThreadsToo) {
  std::vector<Number> seen;
  thread::run_threads({.pes = 2, .wait_limit = std::chrono::milliseconds{0}},
                      ClearedByHost{true, true, &seen});
  EXPECT_THAT(seen, testing::ElementsAre(1, 1));
}
TEST(Words, AHostThatClearsItMeetsTheOthersBeforeTheyGoOn) {
  std::vector<Number> seen;
  const Found found = judged(ClearedByHost{true, false, &seen});
  EXPECT_THAT(found.kinds, HasSubstr("race"));
  EXPECT_THAT(found.text, HasSubstr("World::write vs put_signal  control allocation"));
  EXPECT_THAT(found.text, HasSubstr("touches a word of a signal table as data"));
}
TEST(Words, ACounterThatIsNotClearedBringsNothingNew) {
  std::vector<Number> seen;
  const Found found = judged(ClearedByHost{false, true, &seen});
  EXPECT_EQ(found.kinds, "race");
  EXPECT_THAT(found.text, HasSubstr("counted only signals that had been waited for before"));
}

// The same within a kernel: the waiter clears its word, and a barrier says so.
auto cleared_by_kernel(bool waits, bool meets) {
  return [=](auto& block, const Table& t) {
    for (int round = 0; round < 2; ++round) {
      if (block.pe() == 1) block.put_signal(t.x, t.y, all, t.counter, 0, 0);
      if (block.pe() == 0 && waits) {
        (void)block.wait_until(t.counter, 0, Number{1});
        use(block, t);
      }
      if (block.pe() == 0) block.transform(t.counter.words, one, Zero{});
      if (meets) (void)barrier(block, t.group);
    }
    block.quiet();
  };
}
TEST(Words, AKernelMayClearACounterBehindABarrier) {
  EXPECT_EQ(of_kernel(cleared_by_kernel(true, true)).kinds, "");
}
TEST(Words, WithoutTheBarrierTheNextSignalRaces) {
  const Found found = of_kernel(cleared_by_kernel(true, false));
  EXPECT_THAT(found.kinds, HasSubstr("race"));
  EXPECT_THAT(found.text, testing::AnyOf(HasSubstr("put_signal vs transform  control allocation"),
                                         HasSubstr("transform vs put_signal  control allocation")));
}
TEST(Words, ASignalThatNobodyWaitedForMayComeAfterTheReset) {
  EXPECT_EQ(of_kernel([](auto& block, const Table& t) {
              if (block.pe() == 1) {
                block.signal(t.counter, 0, 0);
                block.signal(t.group.channel.steps, 0, 0);
              } else if (block.wait_until(t.group.channel.steps, 0, t.group.team.only(1))) {
                block.transform(t.counter.words, one, Zero{});
              }
            }).kinds,
            "race");
}
// Completed by its issuer, it cannot.
TEST(Words, ASignalThatIsCompleteIsBeforeTheReset) {
  EXPECT_EQ(of_kernel([](auto& block, const Table& t) {
              if (block.pe() == 1) {
                block.signal(t.counter, 0, 0);
                block.quiet();
                block.signal(t.group.channel.steps, 0, 0);
              } else if (block.wait_until(t.group.channel.steps, 0, t.group.team.only(1))) {
                block.transform(t.counter.words, one, Zero{});
              }
            }).kinds,
            "");
}
// The producer sets it back itself, by a put that a fence orders before its next signal.
auto cleared_by_producer(bool fenced) {
  return [=](auto& block, const Table& t) {
    for (int round = 0; round < 2; ++round) {
      if (block.pe() == 1) {
        block.put_value(t.counter.words, 0, Number{0}, 0);
        if (fenced) block.fence(0);
        block.put_signal(t.x, t.y, all, t.counter, 0, 0);
      }
      (void)barrier(block, t.group);
      if (block.pe() == 0) {
        (void)block.wait_until(t.counter, 0, Number{1});
        use(block, t);
      }
      (void)barrier(block, t.group);
    }
  };
}
TEST(Words, AFenceOrdersAPutToAWordAndItsSignal) {
  EXPECT_EQ(of_kernel(cleared_by_producer(true)).kinds, "");
}
TEST(Words, WithoutTheFenceTheyRace) {
  EXPECT_THAT(of_kernel(cleared_by_producer(false)).kinds, HasSubstr("race"));
}

// --- what else writes a word ---------------------------------------------------------------------

// A put ends the wait, and nothing orders the two: the word is named.
TEST(Words, APutIsNoSignal) {
  const Found found = of_kernel([](auto& block, const Table& t) {
    if (block.pe() == 1) {
      block.put_value(t.counter.words, 0, Number{5}, 0);
      block.quiet();
    } else {
      (void)block.wait_until(t.counter, 0, Number{5});
    }
  });
  EXPECT_EQ(found.kinds, "race");
  EXPECT_THAT(found.text, HasSubstr("put_value vs wait_until  control allocation"));
}
TEST(Words, APutThatIsOrderedIsSeenByTheWait) {
  EXPECT_EQ(of_kernel([](auto& block, const Table& t) {
              const Signals& steps = t.group.channel.steps;
              if (block.pe() == 1) {
                block.put_value(t.counter.words, 0, Number{5}, 0);
                block.fence(0);
                block.signal(steps, 0, 0);
              } else if (block.wait_until(steps, 0, t.group.team.only(1))) {
                EXPECT_EQ(block.wait_until(t.counter, 0, Number{5}), 5U);
                EXPECT_EQ(block.test(t.counter, 0), 5U);
              }
            }).kinds,
            "");
}
// A fetch_add ends it as well, is atomic, and brings nothing.
auto adds(bool to_signal, bool uses) {
  return [=](auto& block, const Table& t) {
    if (block.pe() == 1) {
      block.put(t.x, t.y, all, 0);
      block.fence(0);
      if (to_signal) block.signal(t.counter, 0, 0);
      if (!to_signal) block.fetch_add(t.counter.words, 0, Number{1}, 0);
      block.quiet();
    } else {
      EXPECT_EQ(block.wait_until(t.counter, 0, Number{1}), 1U);
      if (uses) use(block, t);
    }
  };
}
TEST(Words, AFetchAddEndsAWait) { EXPECT_EQ(of_kernel(adds(false, false)).kinds, ""); }
TEST(Words, AFetchAddBringsNothing) {
  EXPECT_EQ(of_kernel(adds(false, true)).kinds, "race");
  EXPECT_EQ(of_kernel(adds(true, true)).kinds, "");
}
// It may be the one that is counted.
auto one_of_each(Number wanted) {
  return [=](auto& block, const Table& t) {
    if (block.pe() == 1) {
      block.put_signal(t.x, t.y, all, t.counter, 0, 0);
      block.quiet();
    }
    if (block.pe() == 2) block.fetch_add(t.counter.words, 0, Number{1}, 0);
    if (block.pe() == 0 && block.wait_until(t.counter, 0, wanted) >= wanted) use(block, t);
  };
}
TEST(Words, ASignalAmongFetchAddsIsCountedWhereAllAre) {
  EXPECT_EQ(of_kernel(one_of_each(1), 3).kinds, "race");
  EXPECT_EQ(of_kernel(one_of_each(2), 3).kinds, "");
}
// A semaphore: the waiter takes away what it has waited for.
auto semaphore(bool credits) {
  return [=](auto& block, const Table& t) {
    for (int round = 0; round < 3; ++round) {
      if (block.pe() == 1) {
        block.put_signal(t.x, t.y, all, t.counter, 0, 0);
        if (credits) (void)block.wait_until(t.group.channel.steps, 0, t.group.team.only(0));
      } else {
        EXPECT_GE(block.wait_until(t.counter, 0, Number{1}), 1U);
        use(block, t);
        block.fetch_add(t.counter.words, 0, ~Number{0}, 0);
        if (credits) block.signal(t.group.channel.steps, 0, 1);
      }
    }
    block.quiet();
  };
}
TEST(Words, AWaiterMayTakeAwayWhatItCounted) {
  EXPECT_EQ(of_kernel(semaphore(true)).kinds, "");
  EXPECT_THAT(of_kernel(semaphore(false)).kinds, HasSubstr("race"));
}

// --- what reads one, and what waits for it -------------------------------------------------------

auto read_after(bool waits) {
  return [=](auto& block, const Table& t) {
    if (block.pe() == 1) block.signal(t.counter, 0, 0);
    if (block.pe() == 1) block.quiet();
    if (block.pe() == 0 && waits) (void)block.wait_until(t.counter, 0, Number{1});
    if (block.pe() == 0) (void)block.read(t.counter.words, 0);
  };
}
TEST(Words, AReadRacesWithASignal) {
  const Found found = of_kernel(read_after(false));
  EXPECT_EQ(found.kinds, "race");
  EXPECT_THAT(found.text, HasSubstr("control allocation"));
  EXPECT_EQ(of_kernel(read_after(true)).kinds, "");
}
TEST(Words, AReadOfAnotherWordDoesNot) {
  EXPECT_EQ(of_kernel([](auto& block, const Table& t) {
              if (block.pe() == 1) block.signal(t.counter, 0, 0);
              if (block.pe() == 0) (void)block.read(t.counter.words, 1);
            }).kinds,
            "");
}
// Blocks of one PE: each has waited for the signal itself, and may read its word.
TEST(Words, EachWaiterKnowsOfTheSignal) {
  EXPECT_EQ(judged([](fiber::FiberWorld& world) {
              const Table t(world);
              LaunchConfig config;
              config.blocks = 2;
              world.launch(config, [=](F& block) {
                if (block.pe() == 1 && block.index() == 0) block.signal(t.counter, 0, 0);
                if (block.pe() == 1) return;
                (void)block.wait_until(t.counter, 0, Number{1});
                (void)block.read(t.counter.words, 0);
              });
            }).kinds,
            "");
}
// Nothing orders the wait before a write that comes later.
TEST(Words, AWriteRacesWithAnEarlierWait) {
  const Found found = judged([](fiber::FiberWorld& world) {
    const Table t(world);
    LaunchConfig config;
    config.blocks = 2;
    world.launch(config, [=](F& block) {
      if (block.pe() == 1) return;
      if (block.index() == 0) (void)block.test(t.counter, 0);
      if (block.index() == 1) block.transform(t.counter.words, one, Zero{});
    });
  });
  EXPECT_EQ(found.kinds, "race");
  EXPECT_THAT(found.text, HasSubstr("test"));
}

TEST(Words, AHangSaysWhoSetTheWord) {
  const Found found = judged([](fiber::FiberWorld& world) {
    const Table t(world);
    const auto waits_for = [&](Number value) {
      world.launch({.name = "words"}, [=](F& block) {
        if (block.pe() == 0) (void)block.wait_until(t.counter, 0, value);
      });
    };
    waits_for(0);
    const Number two = 2;
    if (world.pe() == 0) world.write(t.counter.words, &two, 1);
    waits_for(2);
    waits_for(3);
  });
  EXPECT_EQ(found.kinds, "deadlockno producer");
  EXPECT_THAT(found.text, HasSubstr("expected 3, seen 2"));
  EXPECT_THAT(found.text,
              HasSubstr("set by PE 0 (World::write at tests/unit/check_words_test.cpp:356) to 2"));
}

// A word of freed memory is no word of what is allocated then; reports may still name it.
TEST(Words, FreedWithItsWindow) {
  EXPECT_EQ(judged([](fiber::FiberWorld& world) {
              for (int round = 0; round < 2; ++round) {
                const Table t(world);
                world.launch({.name = "words"}, [=](F& block) {
                  block.signal(t.counter, 0, 1 - block.pe());
                  EXPECT_EQ(block.wait_until(t.counter, 0, Number{1}), 1U);
                });
                world.free(t.counter.words);
              }
            }).kinds,
            "");
}

}  // namespace
}  // namespace sym::check
