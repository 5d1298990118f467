// What compiles here and cannot be on a GPU, or waits for what can never come: refused by name.
#include <gmock/gmock.h>

#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

#include "backends/check/run.hpp"
#include "backends/check/user.hpp"
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
      [](FiberWorld& world) { (void)world.local<int>(1); },
      [](FiberWorld& world) { (void)world.mark_us(); },
      [](FiberWorld& world) { (void)world.posts(1); },
      [](FiberWorld& world) { (void)world.channel({0}); },
      [](FiberWorld& world) { world.write(Window<int>{}, static_cast<const int*>(nullptr), 1); },
      [](FiberWorld& world) { world.begin_capture(); }};
  for (const auto call : calls) {
    const CheckReport report = in_a_kernel(call);
    ASSERT_FALSE(report.findings.empty());
    EXPECT_THAT(report.findings[0].text, HasSubstr("is called from inside a kernel"));
    EXPECT_THAT(report.findings[0].text, HasSubstr("(calls)  sync at"));
  }
}

TEST(Misuse, AQueueIsForHosts) {
  const CheckReport report = run([](FiberWorld& world) {
    auto& queue = world.queue(1);
    world.launch({.name = "calls"}, [&queue](FiberBlock& block) {
      block.sync();
      (void)queue.record();
    });
    world.synchronize();
  });
  EXPECT_THAT(report.text(), HasSubstr("Queue::record is called from inside a kernel"));
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

int main_of(const Program& program, std::initializer_list<const char*> arguments) {
  std::vector<std::string> words{"program"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  return check_main(static_cast<int>(argv.size()), argv.data(), program);
}

// It ended the process.
TEST(CheckMain, AProgramThatIsNotTheSameAgainIsRefused) {
  int runs = 0;
  const auto program = [&runs](FiberWorld& world) {
    const auto window = world.allocate<int>(8);
    const int puts = ++runs;
    world.launch({.name = "differs"}, [=](FiberBlock& block) {
      for (int i = 0; i < puts; ++i) block.put_value(window, 0, 1, 0);
      block.quiet();
    });
    world.synchronize();
  };
  EXPECT_EQ(main_of(program, {"--pes", "2", "--schedule", "exhaustive"}), 2);
}

// Their op sites were not counted, and the program was taken for one without a verb.
TEST(CheckMain, PostsAndTakesAloneAreSomething) {
  const auto program = [](FiberWorld& world) {
    const Posts posts = world.posts(1);
    auto& queue = world.queue(0);
    queue.post(posts, 0, 1 - world.pe());
    queue.take(posts, 0, 1 - world.pe());
    world.synchronize();
  };
  EXPECT_EQ(main_of(program, {"--pes", "2"}), 0);
}

}  // namespace
}  // namespace sym::check
