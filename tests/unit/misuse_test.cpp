// What compiles here and cannot be on a GPU, or waits for what can never come: refused by name.
#include <gmock/gmock.h>

#include <functional>

#include "backends/check/run.hpp"
#include "core/collective/barrier.hpp"

namespace sym::check {
namespace {

using fiber::FiberBlock;
using fiber::FiberWorld;
using testing::HasSubstr;

CheckReport run(const std::function<void(FiberWorld&)>& program) {
  return run_check(CheckOptions{}, program);
}

CheckReport in_a_kernel(void (*call)(FiberWorld&)) {
  return run([call](FiberWorld& world) {
    world.launch({.name = "calls"}, [call, &world](FiberBlock& block) {
      block.sync();
      call(world);
    });
    world.synchronize();
  });
}

TEST(Misuse, AWorldIsForHosts) {
  void (*const calls[])(FiberWorld&) = {
      [](FiberWorld& world) { (void)world.allocate<int>(1); },
      [](FiberWorld& world) { world.synchronize(); },
      [](FiberWorld& world) { world.barrier(); },
      [](FiberWorld& world) { world.launch({.name = "inner"}, [](FiberBlock&) {}); },
      [](FiberWorld& world) { (void)world.channel({1}); },
      [](FiberWorld& world) { world.begin_capture(); }};
  for (const auto call : calls) {
    const CheckReport report = in_a_kernel(call);
    ASSERT_FALSE(report.findings.empty());
    EXPECT_THAT(report.findings[0].text, HasSubstr("is called from inside a kernel"));
    EXPECT_THAT(report.findings[0].text, HasSubstr("(calls)  sync at"));
  }
}

TEST(Misuse, WaitsForTheOtherKindOfWord) {
  const CheckReport of_rows = run([](FiberWorld& world) {
    Signals plain;
    plain.words = world.allocate_control<std::uint64_t>(2);
    plain.slots = 2;
    const Team team = world.team();
    world.launch({.name = "waits"},
                 [=](FiberBlock& block) { (void)block.wait_until(plain, 0, team); });
    world.synchronize();
  });
  EXPECT_THAT(of_rows.text(), HasSubstr("a wait for a team's signals on plain counters"));
  const CheckReport of_value = run([](FiberWorld& world) {
    const Signals rows = world.channel({1}).steps;
    world.launch({.name = "waits"},
                 [=](FiberBlock& block) { (void)block.wait_until(rows, 0, std::uint64_t{1}); });
    world.synchronize();
  });
  EXPECT_THAT(of_value.text(), HasSubstr("a wait for a value on a table with a lane for each PE"));
}

}  // namespace
}  // namespace sym::check
