// The thread backend's queues: streams, marks, captures and flags.
#include <gmock/gmock.h>

#include <chrono>
#include <thread>

#include "tests/conformance/harness.hpp"
#include "tests/unit/thread_programs.hpp"

namespace sym::thread {
namespace {

using conformance::read_all;
using conformance::write_all;
using std::chrono::milliseconds;
using testing::HasSubstr;

TEST(Queues, AfterWaitsForAllThatTheMarkStandsFor) {
  int value = 0;  // not atomic: ThreadSanitizer sees whether the mark orders
  auto slow = [&](auto&) {
    std::this_thread::sleep_for(milliseconds(20));
    ++value;
  };
  int seen = 0;
  auto look = [&](auto&) { seen = value; };
  run_threads({.pes = 1}, [&](ThreadWorld& world) {
    world.queue(1).launch({.name = "slow"}, Calls{&slow});
    world.queue(1).launch({.name = "slow"}, Calls{&slow});
    world.queue(0).after(world.queue(1).record());
    world.queue(0).launch({.name = "look"}, Calls{&look});
    world.synchronize();
    EXPECT_EQ(seen, 2);
  });
}

TEST(Queues, ALaunchOnAStreamIsInItsQueue) {
  std::vector<int> order;
  auto first = [&](auto&) {
    std::this_thread::sleep_for(milliseconds(10));
    order.push_back(1);
  };
  auto second = [&](auto&) { order.push_back(2); };
  run_threads({.pes = 1}, [&](ThreadWorld& world) {
    world.launch({.name = "first", .stream = 3}, Calls{&first});
    world.queue(3).launch({.name = "second", .stream = 7}, Calls{&second});
    world.synchronize();
  });
  EXPECT_THAT(order, testing::ElementsAre(1, 2));
}

TEST(Queues, EachReplayHasMarksOfItsOwn) {
  int made = 0;
  std::vector<int> seen;
  auto make = [&](auto&) {
    std::this_thread::sleep_for(milliseconds(5));
    ++made;
  };
  auto look = [&](auto&) { seen.push_back(made); };
  run_threads({.pes = 1}, [&](ThreadWorld& world) {
    world.begin_capture();
    world.queue(1).launch({.name = "make"}, Calls{&make});
    world.queue(2).after(world.queue(1).record());
    world.queue(2).launch({.name = "look"}, Calls{&look});
    const GraphId graph = world.end_capture();
    EXPECT_EQ(made, 0);
    for (int i = 0; i < 4; ++i) world.replay(graph);
    world.synchronize();
  });
  EXPECT_THAT(seen, testing::ElementsAre(1, 2, 3, 4));
}

TEST(Queues, AReplayIsOrderedWithStreamZero) {
  int value = 0;
  std::vector<int> seen;
  auto slow = [&](auto&) {
    std::this_thread::sleep_for(milliseconds(10));
    value = value * 10 + 1;
  };
  auto in_graph = [&](auto&) {
    std::this_thread::sleep_for(milliseconds(10));
    value = value * 10 + 2;
  };
  auto look = [&](auto&) { seen.push_back(value); };
  run_threads({.pes = 1}, [&](ThreadWorld& world) {
    world.begin_capture();
    world.queue(5).launch({.name = "in_graph"}, Calls{&in_graph});
    const GraphId graph = world.end_capture();
    world.launch({.name = "slow"}, Calls{&slow});
    world.replay(graph);
    world.launch({.name = "look"}, Calls{&look});
    world.synchronize();
  });
  EXPECT_THAT(seen, testing::ElementsAre(12));
}

TEST(Queues, MarksStayInTheirCapture) {
  run_threads({.pes = 1}, [](ThreadWorld& world) {
    ThreadQueue& queue = world.queue(0);
    EXPECT_THROW(queue.after(Mark{}), UsageError);
    EXPECT_THROW(queue.after(Mark{17}), UsageError);
    const Mark outside = world.queue(1).record();
    world.begin_capture();
    EXPECT_THROW(queue.after(outside), UsageError);
    const Mark inside = world.queue(1).record();
    queue.after(inside);
    EXPECT_THROW(world.replay(GraphId{0}), UsageError);
    world.replay(world.end_capture());
    EXPECT_THROW(queue.after(inside), UsageError);
    queue.after(outside);
    world.synchronize();
    queue.after(outside);  // long over
    queue.after(queue.record());
    world.synchronize();
  });
}

// --- flags ---------------------------------------------------------------------------------------

// A token goes round on two queues of each PE; what it carries is plain memory.
TEST(Queues, FlagsOrderWhatLiesBetweenThem) {
  constexpr int rounds = 50;
  run_threads({.pes = 3}, [&](ThreadWorld& world) {
    const auto token = world.allocate<float>(1);
    const Posts posts = world.posts(2);
    const int next = (world.pe() + 1) % world.n_pes();
    const int last = (world.pe() + 2) % world.n_pes();
    auto count = [token](auto& block) {
      block.transform(
          token, Range{0, 1}, [](float x) { return x + 1; }, token);
    };
    for (int round = 0; round < rounds; ++round) {
      ThreadQueue& queue = world.queue(round % 2);
      if (round > 0) queue.after(world.queue(1 - round % 2).record());
      if (world.pe() != 0 || round != 0) queue.take(posts, 1, last);
      queue.launch({.name = "count"}, Calls{&count});
      queue.put(row_of(token, 0, 1), row_of(token, 0, 1), next);
      queue.post(posts, 1, next);
    }
    if (world.pe() == 0) world.queue(1).take(posts, 1, last);
    world.synchronize();
    world.barrier();
    if (world.pe() == 0) {
      EXPECT_EQ(read_all(world, token, 1)[0], 3.0F * rounds);
    }
  });
}

TEST(Queues, AFlagPostedTwiceIsReported) {
  const std::string text =
      thrown<Failure>({.pes = 2, .wait_limit = milliseconds(300)}, [](ThreadWorld& world) {
        const Posts posts = world.posts(2);
        if (world.pe() == 1) {
          for (int i = 0; i < 2; ++i) world.queue(4).post(posts, 1, 0);
          world.synchronize();
        }
      });
  EXPECT_THAT(text, HasSubstr("post: the flag of slot 1 at PE 0 has not been taken"));
  EXPECT_THAT(text, HasSubstr("PE 1 queue 4"));
  EXPECT_THAT(text, HasSubstr("thread_queue_test.cpp:"));
}

// Nobody posts: the World fails within the limit, drops what comes later, and recovers, flags and
// all.
TEST(Queues, AFlagThatNobodyPostsEndsTheWait) {
  run_threads({.pes = 2, .wait_limit = milliseconds(1000)}, [](ThreadWorld& world) {
    const auto window = world.allocate<float>(2);
    const Posts posts = world.posts(2);
    if (world.pe() == 0) {
      world.queue(1).take(posts, 0, 1);
      world.queue(1).put(row_of(window, 0, 1), row_of(window, 1, 1), 0);
      world.queue(2).after(world.queue(1).record());
      try {
        world.synchronize();
        ADD_FAILURE() << "the wait has not expired";
      } catch (const Failure& failure) {
        EXPECT_THAT(failure.what(), HasSubstr("wait expired after 1000 ms in take: missing PE 1"));
        EXPECT_THAT(failure.what(), HasSubstr("slot 0; PE 0 queue 1 at "));
      }
      EXPECT_THROW(world.queue(0).put(row_of(window, 0, 1), row_of(window, 1, 1), 0), Failure);
    } else {
      world.queue(0).post(posts, 1, 0);  // never taken
    }
    world.recover();
    if (world.pe() == 1) world.queue(0).post(posts, 1, 0);
    if (world.pe() == 0) world.queue(0).take(posts, 1, 1);
    world.synchronize();
  });
}

TEST(Queues, WhatComesAfterAFailureIsDropped) {
  run_threads({.pes = 1, .wait_limit = milliseconds(100)}, [](ThreadWorld& world) {
    const auto window = world.allocate<float>(2);
    const Posts posts = world.posts(1);
    write_all(world, window, std::vector<float>{1, 2});
    world.queue(1).take(posts, 0, 0);
    world.queue(1).put(row_of(window, 0, 1), row_of(window, 1, 1), 0);
    EXPECT_THROW(world.synchronize(), Failure);
    EXPECT_EQ(read_all(world, window, 1)[0], 1);
    world.recover();
    world.queue(1).put(row_of(window, 0, 1), row_of(window, 1, 1), 0);
    world.synchronize();
    EXPECT_EQ(read_all(world, window, 1)[0], 2);
  });
}

TEST(Queues, BadArgumentsAreRefusedAtOnce) {
  run_threads({.pes = 2}, [](ThreadWorld& world) {
    const auto window = world.allocate<float>(16);
    const Posts posts = world.posts(2);
    ThreadQueue& queue = world.queue(0);
    const Matrix<float> square{window, 4, 4, 4};
    const Matrix<float> wide{window, 2, 8, 8};
    EXPECT_THROW((void)world.queue(-1), UsageError);
    EXPECT_THROW(queue.post(world.posts(0), 0, 1), UsageError);
    EXPECT_THROW(queue.put(square, wide, 1), UsageError);
    EXPECT_THROW(queue.get(square, square, 2), UsageError);
    EXPECT_THROW(queue.get(square, square.part(1, 0, 4, 4), 1), UsageError);
    EXPECT_THROW(queue.put(Matrix<float>{window, 2, 4, 3}, wide.part(0, 0, 2, 4), 1), UsageError);
    EXPECT_THROW(queue.put(row_of(window.at(1), 0, 4), row_of(window, 0, 4), world.pe()),
                 UsageError);
    EXPECT_THROW(queue.post(posts, 2, 1), UsageError);
    EXPECT_THROW(queue.take(posts, 0, -1), UsageError);
    const Matrix<float> d{world.allocate<float>(16), 4, 4, 4};
    EXPECT_THROW(queue.gemm(Gemm<float>{square, wide, {}, d, 0, {}}), UsageError);
    EXPECT_THROW(queue.gemm(Gemm<float>{square, square, {square, 2}, d, 1, {}}), UsageError);
    world.begin_capture();
    EXPECT_THROW(queue.prepare(Gemm<float>{square, square, {}, d, 0, {}}), UsageError);
    (void)world.end_capture();
    queue.put(square, square, 1);
    world.synchronize();
  });
}

}  // namespace
}  // namespace sym::thread
