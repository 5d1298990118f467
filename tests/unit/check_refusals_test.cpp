// Arguments that no kernel may give, and kernels that never end what they begin: named, and the
// process lives.
#include <gmock/gmock.h>
#include <gtest/gtest-spi.h>

#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "backends/check/gtest.hpp"

namespace sym::check {
namespace {

using fiber::FiberBlock;
using fiber::FiberWorld;
using testing::HasSubstr;

CheckOptions two() {
  CheckOptions options;
  options.pes = 2;
  return options;
}

template <class Kernel>
std::string text_of(const Kernel& kernel) {
  return check_program(two(),
                       [&](FiberWorld& world) {
                         const auto x = world.allocate<float>(8);
                         Signals counter;
                         counter.words = world.allocate_control<std::uint64_t>(2);
                         counter.slots = 1;
                         world.launch({}, [=](FiberBlock& block) { kernel(block, x, counter); });
                         world.synchronize();
                       })
      .text();
}

// (2^61 + 4) * 8 bytes wrap to 32, of which a kernel may touch four elements.
TEST(Sizes, ThatWrapAreRefused) {
  constexpr std::size_t wraps = (std::size_t{1} << 61) + 4;
  const auto text = [](const Program& program) { return check_program(two(), program).text(); };
  EXPECT_THAT(text([](FiberWorld& world) { (void)world.allocate<double>(wraps); }),
              HasSubstr("more than one allocation may have"));
  EXPECT_THAT(text([](FiberWorld& world) { (void)world.local<double>(wraps); }),
              HasSubstr("more than one allocation may have"));
  EXPECT_THAT(text([](FiberWorld& world) { (void)world.posts(std::size_t{1} << 63); }),
              HasSubstr("more than one allocation may have"));
  EXPECT_THAT(text([](FiberWorld& world) {
                (void)world.channel({1, std::numeric_limits<std::size_t>::max() - 3});
              }),
              HasSubstr("more than one allocation may have"));
  EXPECT_THROW((void)bytes_of(wraps, 8), UsageError);
  EXPECT_EQ(bytes_of(std::size_t{1} << 43, 8), std::size_t{1} << 46);
}

TEST(Arguments, ALocalOfNoMemoryIsNamed) {
  const auto text = text_of([](FiberBlock& block, Window<float> x, const Signals&) {
    block.put(x, Local<float>{nullptr, 8}, Range{0, 8}, 1);
    block.quiet();
  });
  EXPECT_THAT(text, HasSubstr("a Local of no memory (null)"));
  EXPECT_EQ(text_of([](FiberBlock& block, Window<float> x, const Signals&) {
              block.put(x, Local<float>{nullptr, 0}, Range{0, 0}, 1);
              block.quiet();
            }),
            "");
}

TEST(Arguments, MisalignedElementsAndWordsAreNamed) {
  EXPECT_THAT(text_of([](FiberBlock& block, Window<float>, Signals counter) {
                counter.words.offset_bytes += 4;
                block.signal(counter, 0, 1 - block.pe());
              }),
              HasSubstr("misaligned: byte 4"));
  EXPECT_THAT(text_of([](FiberBlock& block, Window<float> x, const Signals&) {
                (void)block.fetch_add(x.at(1).as<std::uint64_t>(), 0, std::uint64_t{1}, 0);
              }),
              HasSubstr("misaligned: byte 4"));
}

TEST(Arguments, ALaunchWithoutANameIsNamed) {
  const auto report = check_program(two(), [](FiberWorld& world) {
    LaunchConfig config;
    config.name = nullptr;
    world.launch(config, [](FiberBlock& block) { block.sync(); });
  });
  EXPECT_THAT(report.text(), HasSubstr("launch: the name is null"));
}

TEST(Arguments, SignalsWithoutEndAreNamedBeforeMemoryEnds) {
  EXPECT_THAT(text_of([](FiberBlock& block, Window<float>, const Signals& counter) {
                while (!block.failed()) block.signal(counter, 0, 1);
              }),
              HasSubstr("more than 2^18 transfers of this block are under way"));
}

// A GPU cannot wait for what it is only recording.
TEST(Arguments, WhatWaitsIsNotCaptured) {
  using Call = std::function<void(FiberWorld&, Window<float>)>;
  const std::vector<std::pair<std::string, Call>> calls = {
      {"synchronize", [](FiberWorld& world, Window<float>) { world.synchronize(); }},
      {"allocate", [](FiberWorld& world, Window<float>) { (void)world.allocate<float>(4); }},
      {"free", [](FiberWorld& world, Window<float> window) { world.free(window); }},
      {"local", [](FiberWorld& world, Window<float>) { (void)world.local<float>(4); }},
      {"posts", [](FiberWorld& world, Window<float>) { (void)world.posts(1); }},
      {"read", [](FiberWorld& world, Window<float> window) {
         float one = 0;
         world.read(&one, window, 1);
       }}};
  for (const auto& [name, call] : calls) {
    const CheckReport report = check_program(two(), [&call = call](FiberWorld& world) {
      const auto window = world.allocate<float>(4);
      world.begin_capture();
      world.barrier();  // of hosts alone
      call(world, window);
    });
    EXPECT_THAT(report.text(),
                testing::StartsWith("EXCEPTION on all 2 PEs: World::" + name +
                                    " cannot be captured: call end_capture() first\n"));
  }
}

TEST(Arguments, AHostDoesNotWriteWhatATableCounts) {
  const auto report = check_program(two(), [](FiberWorld& world) {
    const Channel channel = world.channel({1});
    const std::uint64_t zero = 0;
    world.write(channel.steps.sent, &zero, 1);
  });
  EXPECT_THAT(report.text(), HasSubstr("a host writes channel #0 steps sent, which a PE "
                                       "keeps for itself"));
}

TEST(ExpectClean, FailsWhereNothingRan) {
  EXPECT_NONFATAL_FAILURE(expect_clean(Program([](FiberWorld&) {}), two()), "nothing was checked");
}

}  // namespace
}  // namespace sym::check
