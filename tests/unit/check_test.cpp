// Clocks, the shadow, and what the race detector makes of single pairs of accesses.
#include <gtest/gtest.h>

#include "backends/check/clock.hpp"
#include "backends/check/run.hpp"
#include "backends/check/shadow.hpp"
#include "core/collective/barrier.hpp"
#include "core/collective/share.hpp"

namespace sym::check {
namespace {

TEST(Completed, PrefixAndSinglesMerge) {
  Completed completed;
  completed.add(3);
  EXPECT_TRUE(completed.covers(3));
  EXPECT_FALSE(completed.covers(2));
  completed.add(1);
  EXPECT_EQ(completed.prefix, 1U);
  completed.add(2);  // 1, 2, 3 are a prefix now
  EXPECT_EQ(completed.prefix, 3U);
  EXPECT_TRUE(completed.singles.empty());
  Completed other;
  other.add(5);
  other.add(7);
  completed.join(other);
  EXPECT_TRUE(completed.covers(5) && completed.covers(7) && !completed.covers(4) &&
              !completed.covers(6));
  completed.add_prefix(6);
  EXPECT_EQ(completed.prefix, 7U);
}

TEST(Clock, JoinIsTheMaximumOfEach) {
  Clock a;
  Clock b;
  a.set_tick(0, 5);
  a.set_tick(2, 1);
  b.set_tick(0, 3);
  b.set_tick(7, 9);
  b.set_quiet(1, 4);
  b.completed_for(1, 2).add(2);
  a.join(b);
  EXPECT_EQ(a.tick(0), 5U);
  EXPECT_EQ(a.tick(2), 1U);
  EXPECT_EQ(a.tick(7), 9U);
  EXPECT_EQ(a.tick(100), 0U);
  EXPECT_EQ(a.quiet(1), 4U);
  ASSERT_NE(a.completed(1, 2), nullptr);
  EXPECT_TRUE(a.completed(1, 2)->covers(2));
  a.set_tick(0, 4);  // never back
  EXPECT_EQ(a.tick(0), 5U);
  a.forget_transfers(1);
  EXPECT_EQ(a.completed(1, 2), nullptr);
}

// Records one access and returns how many earlier ones it conflicts with.
class ShadowTest : public testing::Test {
 protected:
  int record(std::size_t begin, std::size_t end, bool write, bool atomic = false, int space = 0) {
    auto access = std::make_shared<Access>();
    access->write = write;
    access->atomic = atomic;
    access->bytes = fiber::Bytes{0, space, begin, end - begin, nullptr, 1};
    int conflicts = 0;
    shadow_.record(
        access->bytes, access, [](const Access&) { return false; },
        [&](const Access&) { ++conflicts; });
    return conflicts;
  }
  Shadow shadow_;
};

TEST_F(ShadowTest, ReadsDoNotConflictWritesDo) {
  EXPECT_EQ(record(0, 10, false), 0);
  EXPECT_EQ(record(5, 15, false), 0);
  EXPECT_EQ(record(9, 10, true), 2);   // both reads
  EXPECT_EQ(record(9, 10, false), 1);  // the write
  EXPECT_EQ(record(20, 30, true), 0);
  EXPECT_EQ(record(0, 30, true), 7);  // 1 read; 2 reads; the write and 1 read; 1 read; 1 write
}

TEST_F(ShadowTest, NeighboursAndOtherSpacesDoNotTouch) {
  EXPECT_EQ(record(0, 8, true), 0);
  EXPECT_EQ(record(8, 16, true), 0);
  EXPECT_EQ(record(0, 8, true, false, 1), 0);
  EXPECT_EQ(record(7, 9, false), 2);
}

TEST_F(ShadowTest, AtomicsConflictWithOthersOnly) {
  EXPECT_EQ(record(0, 8, true), 0);
  EXPECT_EQ(record(0, 8, true, true), 1);
  EXPECT_EQ(record(0, 8, true, true), 1);  // an atomic does not hide the write before it
  EXPECT_EQ(record(0, 8, false), 3);
  EXPECT_EQ(record(0, 4, true, true), 4);  // nor do atomics of two sizes go together
}

TEST_F(ShadowTest, ForgetsWhatIsSettled) {
  EXPECT_EQ(record(0, 8, true), 0);
  shadow_.clear();
  EXPECT_EQ(record(0, 8, true), 0);
  EXPECT_EQ(shadow_.ranges(), 1U);
}

// What one program of two PEs is worth under fifo: the kinds of its findings.
template <class Kernel>
std::string kinds(Kernel kernel, int pes = 2) {
  CheckOptions options;
  options.pes = pes;
  options.schedule = "fifo";
  std::string all;
  const auto report = run_check(options, [&](fiber::FiberWorld& world) {
    const auto window = world.allocate<float>(64);
    const auto other = world.allocate<float>(64);
    const Group group{world.channel({1}), world.team()};
    world.launch({.name = "pair"},
                 [=](fiber::FiberBlock& block) { kernel(block, group, window, other); });
  });
  for (const auto& finding : report.findings) all += (all.empty() ? "" : " ") + finding.kind;
  return all;
}
using F = fiber::FiberBlock;
using G = Group;
using W = Window<float>;
constexpr Range all{0, 64};

TEST(RaceDetector, PutSignalCoversItsOwnPayloadOnly) {
  EXPECT_EQ(kinds([](F& b, G g, W x, W y) {
              if (b.pe() == 0) b.put_signal(x, y, all, g.channel.steps, 0, 1);
              if (b.pe() == 1 && b.wait_until(g.channel.steps, 0, g.team))
                b.transform(y, all, detail::Identity{}, x);
            }),
            "");
  EXPECT_EQ(kinds([](F& b, G g, W x, W y) {
              if (b.pe() == 0) b.put(x, y, Range{0, 32}, 1);
              if (b.pe() == 0) b.put_signal(x, y, Range{32, 32}, g.channel.steps, 0, 1);
              if (b.pe() == 1 && b.wait_until(g.channel.steps, 0, g.team))
                b.transform(y, all, detail::Identity{}, x);
            }),
            "race");
}

// FENCE-3 and QUIET-3: a fence orders towards one PE only; quiet completes.
TEST(RaceDetector, FenceIsForOnePe) {
  const auto third = [](bool quiet) {
    return [quiet](F& b, G g, W x, W y) {
      if (b.pe() == 0) {
        b.put(x, y, all, 1);
        quiet ? b.quiet() : b.fence(1);
        b.signal(g.channel.steps, 0, 2);
      }
      if (b.pe() == 2 && b.wait_until(g.channel.steps, 0, g.team.only(0))) b.get(y, x, all, 1);
    };
  };
  EXPECT_EQ(kinds(third(false), 3), "race");
  EXPECT_EQ(kinds(third(true), 3), "");
}

TEST(RaceDetector, FenceDoesNotOrderGets) {
  EXPECT_EQ(kinds([](F& b, G g, W x, W y) {
              if (b.pe() == 0) b.get(x, y, all, 1);
              b.fence(1);
              if (b.pe() == 0) b.transform(x, all, detail::Identity{}, x);
              barrier(b, g);
            }),
            "race");
}

TEST(RaceDetector, ReadingASourceThatIsInFlightIsFine) {
  EXPECT_EQ(kinds([](F& b, G g, W x, W y) {
              if (b.pe() == 0) b.put(x, y, all, 1);
              if (b.pe() == 0) (void)b.sum(y, all, detail::Identity{});
              barrier(b, g);
            }),
            "");
}

TEST(RaceDetector, SameRangeNeedsNoSyncOtherElementTypesDo) {
  EXPECT_EQ(kinds([](F& b, G g, W x, W y) {
              b.transform(x, all, detail::Identity{}, y);
              b.transform(y, all, detail::Identity{}, x);
              barrier(b, g);
            }),
            "");
  EXPECT_EQ(kinds([](F& b, G g, W x, W y) {
              b.transform(x, all, detail::Identity{}, y);
              (void)b.sum(x.as<std::uint16_t>(), Range{0, 128}, detail::Identity{});
              barrier(b, g);
            }),
            "missing-sync");
}

TEST(RaceDetector, AtomicsOfManyAreNoRace) {
  EXPECT_EQ(kinds([](F& b, G, W x, W) { (void)b.fetch_add(x.as<std::int32_t>(), 3, 1, 0); }), "");
}

}  // namespace
}  // namespace sym::check
