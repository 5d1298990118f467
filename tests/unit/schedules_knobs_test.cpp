// Knobs that do not concern transfers: resident blocks, launch order, wrap, shuffled pieces.
#include <gmock/gmock.h>

#include <vector>

#include "backends/check/run.hpp"
#include "core/collective/all_reduce.hpp"
#include "core/error.hpp"

namespace sym::check {
namespace {

using fiber::FiberBlock;
using fiber::FiberWorld;
using testing::ElementsAre;
using testing::HasSubstr;

// Each of two streams has a kernel in which the PEs wait for each other.
void two_streams(FiberWorld& world) {
  Signals come;
  come.words = world.allocate_control<std::uint64_t>(2);
  come.slots = 2;
  for (int stream = 0; stream < 2; ++stream) {
    world.launch({.name = stream == 0 ? "first" : "second", .stream = stream},
                 [come, stream](FiberBlock& block) {
                   const auto slot = static_cast<std::size_t>(stream);
                   block.signal(come, slot, 1 - block.pe());
                   (void)block.wait_until(come, slot, std::uint64_t{1});
                 });
  }
  world.synchronize();
}

TEST(Resident, LaunchesInOppositeOrderHang) {
  CheckOptions options;
  EXPECT_EQ(run_check(options, two_streams).text(), "");
  options.resident_blocks = 2;
  EXPECT_EQ(run_check(options, two_streams).text(), "");
  options.resident_blocks = 1;
  const CheckReport report = run_check(options, two_streams);
  ASSERT_EQ(report.findings.size(), 1U);
  EXPECT_EQ(report.findings[0].kind, "deadlock");
  EXPECT_THAT(report.text(), HasSubstr("PE 0 block 0  launch 1 (first)  wait_until"));
  EXPECT_THAT(report.text(), HasSubstr("PE 1 block 0  launch 2 (second)  wait_until"));
  options.knobs.launch_order = false;
  EXPECT_EQ(run_check(options, two_streams).text(), "");
}

TEST(Resident, ChanceFindsIt) {
  CheckOptions options;
  options.schedule = "random";
  options.resident_blocks = 1;
  int hung = 0;
  for (options.seed = 1; options.seed <= 30; ++options.seed) {
    const CheckReport report = run_check(options, two_streams);
    if (report.clean()) continue;
    ++hung;
    CheckOptions replay = options;
    replay.decisions = report.decisions;
    EXPECT_EQ(run_check(replay, two_streams).text(), report.text());
  }
  EXPECT_GT(hung, 0);
  EXPECT_LT(hung, 30);
}

// The blocks of a launch wait for its block 0, which comes last: so all must be there at once.
TEST(Resident, BlocksThatNeedEachOtherNeedPlaces) {
  const auto program = [](FiberWorld& world) {
    Signals come;
    come.words = world.allocate_control<std::uint64_t>(1);
    come.slots = 1;
    world.launch({.name = "grid", .blocks = 4}, [come](FiberBlock& block) {
      block.signal(come, 0, block.pe());
      (void)block.wait_until(come, 0, std::uint64_t{4});
    });
    world.synchronize();
  };
  CheckOptions options;
  for (const char* schedule : {"worst", "random", "pct", "fifo"}) {
    options.schedule = schedule;
    options.resident_blocks = 4;
    EXPECT_EQ(run_check(options, program).text(), "");
    options.resident_blocks = 3;
    EXPECT_THAT(run_check(options, program).text(), HasSubstr("DEADLOCK"));
  }
}

TEST(Resident, APlaceIsFreeWhenItsBlockHasEnded) {
  std::vector<int> order;
  CheckOptions options;
  options.pes = 1;
  options.resident_blocks = 1;
  options.schedule = "fifo";
  const CheckReport report = run_check(options, [&](FiberWorld& world) {
    world.launch({.name = "in_turn", .blocks = 3}, [&order](FiberBlock& block) {
      order.push_back(block.index());
      block.sync();
      order.push_back(block.index());
    });
    world.synchronize();
  });
  EXPECT_EQ(report.text(), "");
  EXPECT_THAT(order, ElementsAre(0, 0, 1, 1, 2, 2));
}

// Ten all-reduces by every protocol that a channel has, past the wrap of its counters.
struct Reduces {
  Group group;
  Window<float> in, out;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    all_reduce_ring(block, group, in, out, in.count, Sum{});
    (void)barrier(block, group);
    all_reduce_one_shot(block, group, in, out, in.count, Sum{});
  }
};

TEST(Wrap, ChannelsGoOn) {
  CheckOptions options;
  options.pes = 3;
  options.knobs.wrap = true;
  for (const char* schedule : {"worst", "random", "fifo"}) {
    options.schedule = schedule;
    const CheckReport report = run_check(options, [&](FiberWorld& world) {
      const auto in = world.allocate<float>(30);
      const auto out = world.allocate<float>(30);
      const Group group{world.channel({.blocks = 1, .packet_bytes = 128}), world.team()};
      std::vector<float> values(30, static_cast<float>(world.pe() + 1));
      world.write(in, values.data(), 30);
      for (int round = 0; round < 10; ++round) {
        world.launch({.name = "wraps"}, Reduces{group, in, out});
        world.read(values.data(), out, 30);
        EXPECT_EQ(values[29], 6) << "round " << round;
      }
    });
    EXPECT_EQ(report.text(), "") << schedule;
  }
}

// What has_come and shows are for: the epoch after the largest one.
TEST(Wrap, EpochsCompareAcrossTheWrap) {
  const std::uint64_t last = ~std::uint64_t{0};
  EXPECT_TRUE(has_come(0, last, 0));
  EXPECT_FALSE(has_come(last, 0, 0));
  EXPECT_TRUE(has_come(last, last, 0));
  for (const std::uint64_t epoch : {last - 1, last, std::uint64_t{0}, std::uint64_t{1}}) {
    const std::uint64_t word = tagged_word(epoch, 0xffff);
    EXPECT_TRUE(has_come(word, epoch, tag_bits));
    EXPECT_TRUE(has_come(word, epoch - 1, tag_bits));
    EXPECT_FALSE(has_come(word, epoch + 1, tag_bits));
    EXPECT_TRUE(shows(word, epoch));
    EXPECT_FALSE(shows(word, epoch + 1));
  }
}

std::vector<std::size_t> order_of_pieces(CheckOptions options) {
  std::vector<std::size_t> order;
  options.pes = 1;
  (void)run_check(options, [&](FiberWorld& world) {
    world.launch({.name = "pieces"}, [&order](FiberBlock& block) {
      block.warps(6, [&order](auto&, std::size_t i) { order.push_back(i); });
    });
    world.synchronize();
  });
  return order;
}

TEST(Shuffle, PiecesRunInAnyOrder) {
  CheckOptions options;
  EXPECT_THAT(order_of_pieces(options), ElementsAre(5, 4, 3, 2, 1, 0));
  options.knobs.shuffle = false;
  EXPECT_THAT(order_of_pieces(options), ElementsAre(0, 1, 2, 3, 4, 5));
  options.knobs.shuffle = true;
  options.schedule = "random";
  const auto shuffled = order_of_pieces(options);
  EXPECT_THAT(shuffled, testing::UnorderedElementsAre(0, 1, 2, 3, 4, 5));
  options.seed = 2;
  EXPECT_NE(order_of_pieces(options), shuffled);
}

TEST(Knobs, AreKnownByName) {
  EXPECT_FALSE(knobs_of({}).wrap);
  EXPECT_TRUE(knobs_of({}).shuffle);
  const Knobs two = knobs_of({"wrap", "split"});
  EXPECT_TRUE(two.wrap && two.split);
  EXPECT_FALSE(two.late_source || two.late_delivery || two.skew || two.poison || two.shuffle ||
               two.launch_order);
  EXPECT_FALSE(knobs_of({"none"}).poison);
  EXPECT_THROW((void)knobs_of({"warp"}), UsageError);
}

}  // namespace
}  // namespace sym::check
