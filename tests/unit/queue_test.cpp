// Queues in the checker: what orders their operations, and what is found where nothing does.
#include <gmock/gmock.h>

#include "backends/check/run.hpp"

namespace sym::fiber {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

using Program = std::function<void(FiberWorld&)>;

std::vector<Finding> findings_of(int pes, const std::string& schedule, const Program& program) {
  check::CheckOptions options;
  options.pes = pes;
  options.schedule = schedule;
  return check::run_check(options, program).findings;
}

const std::vector<std::string> schedules{"worst", "fifo", "random"};

// Under every schedule: the first finding is of this kind, and its text has `text`.
void expect_finding(int pes, const std::string& kind, const std::string& text,
                    const Program& program) {
  for (const std::string& schedule : schedules) {
    SCOPED_TRACE(schedule);
    const auto findings = findings_of(pes, schedule, program);
    ASSERT_FALSE(findings.empty());
    EXPECT_EQ(findings[0].kind, kind);
    EXPECT_THAT(findings[0].text, HasSubstr(text));
  }
}
void expect_clean(int pes, const Program& program) {
  for (const std::string& schedule : schedules) {
    SCOPED_TRACE(schedule);
    for (const Finding& finding : findings_of(pes, schedule, program)) {
      ADD_FAILURE() << finding.text;
    }
  }
}

constexpr std::size_t n = 64;

Matrix<float> row(Window<float> window) { return row_of(window, 0, n); }

// Copies a to b on queue 0 and b to c on queue 1.
void copy_twice(FiberWorld& world, bool ordered) {
  const auto a = world.allocate<float>(n);
  const auto b = world.allocate<float>(n);
  const auto c = world.allocate<float>(n);
  world.queue(0).put(row(b), row(a), world.pe());
  const Mark copied = world.queue(0).record();
  if (ordered) world.queue(1).after(copied);
  world.queue(1).get(row(c), row(b), world.pe());
}
TEST(Queue, AMarkOrdersTwoQueuesAndNothingElseDoes) {
  expect_clean(2, [](FiberWorld& world) { copy_twice(world, true); });
  expect_finding(2, "race", "queue 1  get", [](FiberWorld& world) { copy_twice(world, false); });
}

// What is recorded is what was before: the second copy to b is not.
TEST(Queue, AMarkDoesNotCoverWhatComesAfterIt) {
  expect_finding(1, "race", "put vs put", [](FiberWorld& world) {
    const auto a = world.allocate<float>(n);
    const auto b = world.allocate<float>(n);
    const auto c = world.allocate<float>(n);
    world.queue(0).put(row(b), row(a), 0);
    const Mark mark = world.queue(0).record();
    world.queue(0).put(row(b), row(a), 0);
    world.queue(1).after(mark);
    world.queue(1).put(row(c), row(b), 0);
  });
}

// PE 0 puts to PE 1, which then copies what came.
void put_and_copy(FiberWorld& world, bool takes) {
  const auto a = world.allocate<float>(n);
  const auto b = world.allocate<float>(n);
  const auto c = world.allocate<float>(n);
  const Posts posts = world.posts(1);
  FiberQueue& queue = world.queue(0);
  if (world.pe() == 0) {
    queue.put(row(b), row(a), 1);
    queue.post(posts, 0, 1);
  } else {
    if (takes) queue.take(posts, 0, 0);
    queue.put(row(c), row(b), 1);
  }
}
TEST(Queue, ATakenFlagOrdersTwoPesAndNothingElseDoes) {
  expect_clean(2, [](FiberWorld& world) { put_and_copy(world, true); });
  expect_finding(2, "race", "put vs put", [](FiberWorld& world) { put_and_copy(world, false); });
}

// A post releases what the queue did before all of its earlier posts too.
TEST(Queue, PostsAreCumulative) {
  expect_clean(3, [](FiberWorld& world) {
    const auto a = world.allocate<float>(n);
    const auto b = world.allocate<float>(n);
    const auto c = world.allocate<float>(n);
    const Posts posts = world.posts(1);
    FiberQueue& queue = world.queue(0);
    if (world.pe() == 0) queue.put(row(b), row(a), 2);
    if (world.pe() == 0) queue.post(posts, 0, 1);
    if (world.pe() == 1) queue.take(posts, 0, 0);
    if (world.pe() == 1) queue.post(posts, 0, 2);
    if (world.pe() == 2) queue.take(posts, 0, 1);
    if (world.pe() == 2) queue.put(row(c), row(b), 2);
  });
}

TEST(Queue, AFlagThatIsNotTakenMayNotBePostedAgain) {
  const std::vector<Finding> findings = findings_of(2, "worst", [](FiberWorld& world) {
    const Posts posts = world.posts(4);
    for (int times = 0; times < 2; ++times) {
      if (world.pe() == 0) world.queue(0).post(posts, 3, 1);
      if (world.pe() == 1) world.queue(0).take(posts, 3, 0);
    }
  });
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].kind, "post");
  EXPECT_THAT(findings[0].text,
              StartsWith("POST the flag of slot 3 at PE 1 has not been taken\n  at     PE 0 queue "
                         "0  post at "));
}

TEST(Queue, TwoQueuesThatTakeOneFlagAreFound) {
  expect_finding(1, "take", "TAKE two wait for the flag of PE 0 of slot 0", [](FiberWorld& world) {
    const Posts posts = world.posts(1);
    world.queue(0).take(posts, 0, 0);
    world.queue(1).take(posts, 0, 0);
  });
}

TEST(Queue, ADeadlockSaysWhichMarkIsWaitedFor) {
  expect_finding(2, "deadlock", "PE 0 queue 3  after at ", [](FiberWorld& world) {
    const Posts posts = world.posts(1);
    if (world.pe() == 1) return;
    world.queue(1).take(posts, 0, 1);
    world.queue(3).after(world.queue(1).record());
  });
}

// The two copies of b are in different queues of a graph that says nothing about their order.
void capture_two(FiberWorld& world, bool joined) {
  const auto a = world.allocate<float>(n);
  const auto b = world.allocate<float>(n);
  const auto c = world.allocate<float>(n);
  world.begin_capture();
  world.queue(1).put(row(b), row(a), world.pe());
  if (joined) world.queue(0).after(world.queue(1).record());
  world.queue(0).put(row(c), row(b), world.pe());
  const GraphId graph = world.end_capture();
  world.replay(graph);
  world.queue(0).put(row(b), row(a), world.pe());  // after all of the graph
  world.replay(graph);                             // and all of the graph after this
}
TEST(QueueGraph, HasTheOrderOfItsMarks) {
  expect_clean(1, [](FiberWorld& world) { capture_two(world, true); });
  expect_finding(1, "race", "put vs put", [](FiberWorld& world) { capture_two(world, false); });
}

// Queue 1 of a graph is not behind what queue 1 was given outside.
TEST(QueueGraph, IsOrderedWithOtherWorkByQueue0Alone) {
  expect_finding(1, "race", "put vs put", [](FiberWorld& world) {
    const auto a = world.allocate<float>(n);
    const auto b = world.allocate<float>(n);
    world.begin_capture();
    world.queue(1).put(row(b), row(a), 0);
    const GraphId graph = world.end_capture();
    world.queue(1).put(row(b), row(a), 0);
    world.replay(graph);
  });
}

// d is rubbish after prepare: a program that counts on c == d is wrong, and sees it.
TEST(Queue, PrepareSpoilsD) {
  expect_clean(1, [](FiberWorld& world) {
    const auto a = world.allocate<float>(4);
    const auto d = world.allocate<float>(6);
    const Matrix<float> two{a, 2, 2, 2};
    world.queue(0).prepare(Gemm<float>{two, two, {}, {d, 2, 2, 3}, 0, {}});
    std::vector<float> got(6);
    world.read(got.data(), d, 6);
    for (const std::size_t i : {0, 1, 3, 4}) EXPECT_NE(got[i], 0.0F) << i;
    for (const std::size_t i : {2, 5}) EXPECT_EQ(got[i], 0.0F) << i;
  });
}

// Freed memory is found when the operation runs, if the arguments were looked at before.
TEST(QueueGraph, FreedMemoryIsFoundByTheReplay) {
  expect_finding(1, "error", "use after free", [](FiberWorld& world) {
    const auto a = world.allocate<float>(n);
    const auto b = world.allocate<float>(n);
    world.begin_capture();
    world.queue(0).put(row(b), row(a), 0);
    const GraphId graph = world.end_capture();
    world.free(b);
    world.replay(graph);
  });
}

}  // namespace
}  // namespace sym::fiber
