// The thread backend's heap, host meeting and streams.
#include <gmock/gmock.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "backends/thread/meeting.hpp"
#include "backends/thread/world.hpp"
#include "core/error.hpp"

namespace sym::thread {
namespace {

using testing::HasSubstr;

TEST(Heap, ReusesAndZeroes) {
  Heap heap(2);
  const std::size_t a = heap.allocate(100);
  const std::size_t b = heap.allocate(5000);
  const std::size_t c = heap.allocate(0);
  EXPECT_NE(a, b);
  EXPECT_NE(b, c);
  for (int pe : {0, 1}) std::memset(heap.at(pe, b, 5000), 7, 5000);
  EXPECT_NE(heap.at(0, b, 1), heap.at(1, b, 1));
  heap.free(b);
  const std::size_t again = heap.allocate(5000);
  EXPECT_EQ(again, b);
  for (int pe : {0, 1}) {
    for (std::size_t i = 0; i < 5000; ++i)
      ASSERT_EQ(static_cast<int>(*heap.at(pe, again + i, 1)), 0);
  }
}

TEST(Heap, NeighbouringHolesBecomeOne) {
  Heap heap(1);
  std::vector<std::size_t> all;
  for (int i = 0; i < 4; ++i) all.push_back(heap.allocate(4000));
  for (int i : {0, 2, 1}) heap.free(all[static_cast<std::size_t>(i)]);
  EXPECT_EQ(heap.allocate(3 * 4096 - 1), all[0]);
}

TEST(Heap, RefusesWhatIsNotLive) {
  Heap heap(1);
  const std::size_t a = heap.allocate(10);
  EXPECT_THROW(heap.free(a + 8), UsageError);
  heap.free(a);
  EXPECT_THROW(heap.free(a), UsageError);
  EXPECT_EQ(heap.at(1, 0, 1), nullptr);
  EXPECT_EQ(heap.at(0, 0, std::size_t{1} << 50), nullptr);
  EXPECT_THROW((void)heap.allocate(std::size_t{1} << 50), Unavailable);
}

TEST(Meeting, NamesWhoDidNotCome) {
  Meeting meeting(3, std::chrono::milliseconds(50));
  std::string text;
  std::jthread one([&] {
    try {
      meeting.meet(1, "barrier", [] {});
    } catch (const Failure&) {
    }
  });
  try {
    meeting.meet(0, "barrier", [] {});
  } catch (const Failure& failure) {
    text = failure.what();
  }
  EXPECT_THAT(text, HasSubstr("for PE "));
  EXPECT_THAT(text, HasSubstr("2"));
}

TEST(Meeting, TheLastRunsTheBodyBeforeAnybodyLeaves) {
  Meeting meeting(4, std::chrono::milliseconds(10000));
  std::atomic<int> times = 0;
  std::atomic<int> seen = 0;
  {
    std::vector<std::jthread> threads;
    for (int pe = 0; pe < 4; ++pe) {
      threads.emplace_back([&, pe] {
        for (int round = 1; round <= 20; ++round) {
          meeting.meet(pe, "round", [&] { ++times; });
          if (times == round) ++seen;
          meeting.meet(pe, "look", [] {});
        }
      });
    }
  }
  EXPECT_EQ(times, 20);
  EXPECT_EQ(seen, 80);
}

struct Counts {
  std::atomic<int>* running;
  std::atomic<int>* most;
  template <Block B>
  void operator()(B&) const {
    const int now = ++*running;
    for (int seen = *most; now > seen && !most->compare_exchange_weak(seen, now);) {
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    --*running;
  }
};

TEST(Streams, LaunchesOfOneStreamDoNotOverlap) {
  std::atomic<int> running = 0;
  std::atomic<int> most = 0;
  run_threads({.pes = 1}, [&](ThreadWorld& world) {
    for (int i = 0; i < 5; ++i)
      world.launch({.name = "counts", .blocks = 2}, Counts{&running, &most});
    world.synchronize();
    EXPECT_EQ(running, 0);
  });
  EXPECT_LE(most, 2);
}

struct ThrowsInBlock {
  template <Block B>
  void operator()(B&) const {
    throw std::runtime_error("on purpose");
  }
};
TEST(World, AnExceptionInABlockReachesTheHost) {
  std::string text;
  try {
    run_threads({.pes = 1},
                [](ThreadWorld& world) { world.launch({.name = "throws"}, ThrowsInBlock{}); });
  } catch (const Failure& failure) {
    text = failure.what();
  }
  EXPECT_THAT(text, HasSubstr("exception in throws: on purpose"));
}

TEST(World, CopiesLongerThanTheirWindowAreRefused) {
  run_threads({.pes = 1}, [](ThreadWorld& world) {
    const auto window = world.allocate<float>(4);
    const std::vector<float> five(5);
    EXPECT_THROW(world.write(window, five.data(), 5), UsageError);
    EXPECT_THROW((void)world.end_capture(), UsageError);
    EXPECT_THROW(world.replay(GraphId{3}), UsageError);
    EXPECT_THROW((void)world.channel({0}), UsageError);
  });
  EXPECT_THROW(run_threads({.pes = 0}, [](ThreadWorld&) {}), UsageError);
}

}  // namespace
}  // namespace sym::thread
