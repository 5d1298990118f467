// Fibres, and the engine's own promises: determinism, exceptions, statistics.
#include <gmock/gmock.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "backends/check/run.hpp"
#include "backends/fiber/fiber.hpp"
#include "core/collective/all_reduce.hpp"
#include "core/error.hpp"

namespace sym::fiber {
namespace {

TEST(Fiber, ResumesWhereItSuspended) {
  StackPool pool(64 * 1024, true);
  Fiber fiber(pool);
  std::string trace;
  fiber.start([&] {
    trace += "a";
    fiber.suspend();
    trace += "b";
  });
  fiber.resume();
  trace += "-";
  EXPECT_FALSE(fiber.ended());
  fiber.resume();
  EXPECT_EQ(trace, "a-b");
  EXPECT_TRUE(fiber.ended());
  fiber.start([&] { trace += "c"; });  // used again
  fiber.resume();
  EXPECT_EQ(trace, "a-bc");
}

// An exception that is being handled belongs to its own fibre, however they switch.
TEST(Fiber, ExceptionsAcrossSwitches) {
  StackPool pool(64 * 1024, true);
  std::vector<std::unique_ptr<Fiber>> fibers;
  std::vector<std::string> caught(5);
  for (std::size_t i = 0; i < caught.size(); ++i) {
    fibers.push_back(std::make_unique<Fiber>(pool));
    Fiber& self = *fibers.back();
    self.start([&self, &caught, i] {
      try {
        try {
          throw std::runtime_error("outer " + std::to_string(i));
        } catch (const std::exception&) {
          self.suspend();
          try {
            throw std::runtime_error("inner " + std::to_string(i));
          } catch (const std::exception& inner) {
            self.suspend();
            caught[i] = inner.what();
          }
          self.suspend();
          throw;  // the outer one
        }
      } catch (const std::exception& outer) {
        caught[i] += std::string(", ") + outer.what();
      }
    });
  }
  for (int round = 0; round < 4; ++round) {
    for (std::size_t i = 0; i < fibers.size(); ++i) fibers[(i * 3 + 1) % fibers.size()]->resume();
  }
  for (std::size_t i = 0; i < caught.size(); ++i) {
    EXPECT_TRUE(fibers[i]->ended());
    EXPECT_EQ(caught[i], "inner " + std::to_string(i) + ", outer " + std::to_string(i));
  }
}

TEST(Fiber, GuardPagesAreKnown) {
  StackPool pool(16 * 1024, true);
  std::byte* stack = pool.take();
  EXPECT_TRUE(pool.guards(stack - 1));
  EXPECT_FALSE(pool.guards(stack));
  pool.give_back(stack);
  EXPECT_EQ(pool.take(), stack);
}

check::CheckOptions options_of(const std::string& schedule, std::uint64_t seed = 1) {
  check::CheckOptions options;
  options.pes = 3;
  options.schedule = schedule;
  options.seed = seed;
  return options;
}

struct Reduces {
  Group group;
  Window<float> in, out;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    all_reduce_ring(block, group, in, out, in.count, Sum{});
  }
};
void reduces(FiberWorld& world) {
  const auto in = world.allocate<float>(100);
  const auto out = world.allocate<float>(100);
  const Group group{world.channel({2}), world.team()};
  world.launch({.name = "reduces", .blocks = 2}, Reduces{group, in, out});
}

TEST(Engine, SameSeedSameRun) {
  for (const char* schedule : {"worst", "fifo", "random", "pct"}) {
    const auto first = check::run_check(options_of(schedule, 5), reduces);
    const auto second = check::run_check(options_of(schedule, 5), reduces);
    EXPECT_EQ(first.statistics.switches, second.statistics.switches) << schedule;
    EXPECT_EQ(first.statistics.sites, second.statistics.sites) << schedule;
    EXPECT_GT(first.statistics.transfers, 0U);
    EXPECT_EQ(first.statistics.escaped_bytes, 0U);
    EXPECT_TRUE(first.clean());
  }
}

TEST(Engine, AnExceptionOfAHostProgramReachesTheCaller) {
  const auto throws = [](FiberWorld& world) {
    world.barrier();
    if (world.pe() == 1) throw std::logic_error("PE 1 has had enough");
    world.barrier();
  };
  EXPECT_THROW((void)check::run_check(options_of("worst"), throws), std::logic_error);
}

struct Throws {
  template <Block B>
  SYM_FN void operator()(B& block) const {
    block.sync();
    throw Failure("by a block");
  }
};
TEST(Engine, AFailureOfABlockIsAFindingWithItsPlace) {
  const auto report = check::run_check(
      options_of("fifo"), [](FiberWorld& world) { world.launch({.name = "throws"}, Throws{}); });
  ASSERT_FALSE(report.clean());
  EXPECT_THAT(report.findings[0].text, testing::HasSubstr("ERROR by a block"));
  EXPECT_THAT(report.findings[0].text, testing::HasSubstr("(throws)  sync at"));
}

TEST(Engine, BytesThatEscapeAreCounted) {
  struct Escapes {
    Window<float> window;
    void operator()(FiberBlock& block) const { *block.escape(window, Range{0, 3}) = 1; }
  };
  const auto report = check::run_check(options_of("fifo"), [](FiberWorld& world) {
    const auto window = world.allocate<float>(3);
    world.launch({.name = "escapes"}, Escapes{window});
  });
  EXPECT_EQ(report.statistics.escaped_bytes, 3 * 12U);
}

TEST(Engine, UnknownScheduleIsRefused) {
  EXPECT_THROW((void)check::run_check(options_of("wurst"), reduces), UsageError);
}

}  // namespace
}  // namespace sym::fiber
