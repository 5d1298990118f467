// Kernels that poll and do other work between two looks: correct ones come to their end under every
// schedule, because who looks in vain lets the others on.
#include <gmock/gmock.h>

#include <functional>
#include <string>

#include "backends/check/run.hpp"

namespace sym::check {
namespace {

using fiber::FiberBlock;
using fiber::FiberWorld;
using testing::HasSubstr;

constexpr int pes = 3;

// What every kernel has: windows of its own, and two counters.
struct Desk {
  Window<int> x, y;
  Window<int> shared;  // touched by fetch_add alone
  Signals come;
  explicit Desk(FiberWorld& world)
      : x(world.allocate<int>(64)), y(world.allocate<int>(64)), shared(world.allocate<int>(1)) {
    come.words = world.allocate_control<std::uint64_t>(2);
    come.slots = 2;
  }
};
using Kernel = std::function<void(FiberBlock&, const Desk&)>;

constexpr Range all{0, 64};

void work(FiberBlock& block, const Desk& desk) {
  block.transform(
      desk.x, all, [](int value) { return value + 1; }, desk.x);
  block.sync();
  (void)block.read(desk.x, 0);
}

bool is_last(const FiberBlock& block) { return block.pe() == pes - 1; }

void signal_all(FiberBlock& block, const Desk& desk) {
  for (int pe = 0; pe < pes; ++pe) block.signal(desk.come, 0, pe);
}

CheckReport checked(const std::string& schedule, const Kernel& kernel) {
  CheckOptions options;
  options.pes = pes;
  options.schedule = schedule;
  options.most_steps = schedule == "exhaustive" ? 20'000 : 2'000'000;
  return run_check(options, [&](FiberWorld& world) {
    const Desk desk(world);
    LaunchConfig config;
    config.name = "polls";
    world.launch(config, [&](FiberBlock& block) { kernel(block, desk); });
    world.synchronize();
  });
}

void expect_to_end(const Kernel& kernel) {
  for (const char* schedule : {"worst", "random", "pct", "fifo"}) {
    const CheckReport report = checked(schedule, kernel);
    EXPECT_EQ(report.text(), "") << schedule;
    EXPECT_FALSE(report.incomplete) << schedule << report.not_reached;
  }
  // A search of them has no end, but each of its executions has one.
  const CheckReport report = checked("exhaustive", kernel);
  EXPECT_EQ(report.text(), "");
  EXPECT_GE(report.executions, 10U) << report.not_reached;
}

TEST(Polling, WorkBetweenTwoLooks) {
  expect_to_end([](FiberBlock& block, const Desk& desk) {
    if (is_last(block)) signal_all(block, desk);
    while (block.test(desk.come, 0) == 0) work(block, desk);
  });
}

TEST(Polling, TwoWordsInTurn) {
  expect_to_end([](FiberBlock& block, const Desk& desk) {
    if (is_last(block)) signal_all(block, desk);
    while (block.test(desk.come, 0) == 0 && block.test(desk.come, 1) == 0) work(block, desk);
  });
}

// What arrives latest is always the poller's own: what it waits for must come all the same.
TEST(Polling, TransfersBetweenTwoLooks) {
  expect_to_end([](FiberBlock& block, const Desk& desk) {
    if (is_last(block)) signal_all(block, desk);
    while (block.test(desk.come, 0) == 0) {
      block.signal(desk.come, 1, (block.pe() + 1) % pes);
    }
  });
}

// Those who poll wait too, and are helped again and again, while somebody else waits.
TEST(Polling, WaitsBetweenTwoLooks) {
  expect_to_end([](FiberBlock& block, const Desk& desk) {
    const auto copy = [&] {
      block.put(desk.y, desk.x, all, block.pe());
      block.quiet();
    };
    if (is_last(block)) {
      copy();
      signal_all(block, desk);
    }
    while (block.test(desk.come, 0) == 0) copy();
  });
}

TEST(Polling, EachWaitsForTheNext) {
  expect_to_end([](FiberBlock& block, const Desk& desk) {
    constexpr std::uint64_t rounds = 3;
    for (std::uint64_t round = 0; round < rounds; ++round) {
      while (block.pe() != 0 && block.test(desk.come, 0) <= round) work(block, desk);
      block.signal(desk.come, 0, (block.pe() + 1) % pes);
      while (block.pe() == 0 && block.test(desk.come, 0) <= round) work(block, desk);
    }
  });
}

TEST(Polling, LooksByFetchAddOfNothing) {
  expect_to_end([](FiberBlock& block, const Desk& desk) {
    if (is_last(block)) (void)block.fetch_add(desk.shared, 0, 1, 0);
    while (block.fetch_add(desk.shared, 0, 0, 0) == 0) work(block, desk);
  });
}

// A loop in which nothing says that it polls: it reads what another writes. That is a race, and is
// found because the other comes to write at all.
TEST(Polling, ByReadsIsARaceThatIsReached) {
  for (const char* schedule : {"worst", "pct"}) {
    const CheckReport report = checked(schedule, [](FiberBlock& block, const Desk& desk) {
      if (is_last(block)) block.put_value(desk.y, 0, 1, 0);
      if (block.pe() != 0) return;
      for (int n = 0; n < 100'000 && block.read(desk.y, 0) == 0; ++n) work(block, desk);
    });
    EXPECT_THAT(report.text(), HasSubstr("RACE")) << schedule;
    EXPECT_FALSE(report.incomplete) << schedule << report.not_reached;
  }
}

}  // namespace
}  // namespace sym::check
