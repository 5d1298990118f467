// OrderGraph: what each synchronisation of a small kernel is for.
#include "backends/check/order_graph.hpp"

#include <gmock/gmock.h>

#include "backends/check/run.hpp"

namespace sym::check {
namespace {

using fiber::Change;
using fiber::Verb;
using testing::Contains;
using testing::IsEmpty;

constexpr std::size_t n = 64;
constexpr Range all{0, n};

struct Same {
  float operator()(float a) const { return a; }
};

// Fills `in`, hands it to the next PE by put, fence and signal; that reads it. With a quiet that
// has nothing to complete, and with two syncs where one would do.
struct Hand {
  Group group;
  Window<float> in, out, more;
  template <Block B>
  void operator()(B& block) const {
    const Signals& steps = group.channel.steps;
    const int next = group.team.pe(group.team.next());
    const Team previous = group.team.only(group.team.previous());
    block.quiet();
    block.transform(in, Range{0, n / 2}, Same{}, more);
    block.sync();
    block.sync();
    block.put(out, in, all, next);
    block.fence(next);
    block.signal(steps, 0, next);
    if (!block.wait_until(steps, 0, previous)) return;
    block.transform(more, all, Same{}, out);
    block.quiet();
  }
};

class Orders : public testing::Test {
 protected:
  void SetUp() override {
    CheckOptions options;
    options.pes = 2;
    options.mutation = &survey_;
    const auto policy = make_fifo();
    fiber::Engine engine(engine_options_of(options), *policy, &graph_);
    fiber::run_worlds(engine, 0, [](fiber::FiberWorld& world) {
      const Group group{world.channel({1}), world.team()};
      world.launch({}, Hand{group, world.allocate<float>(n), world.allocate<float>(n),
                            world.allocate<float>(n)});
    });
    ASSERT_EQ(engine.findings().size(), 0U);
  }
  // The how-manieth call of the verb, in the order of lines.
  Op op(Verb verb, std::size_t number = 0) const {
    for (const Op& one : survey_.ops()) {
      if (one.verb == verb && number-- == 0) return one;
    }
    ADD_FAILURE() << "no such call";
    return {};
  }
  OrderGraph::Answer without(const Op& op, Change change = Change::drop) const {
    return graph_.without({{op, change}});
  }
  Survey survey_{2, 1};
  OrderGraph graph_;
};

TEST_F(Orders, EveryPairOfACleanProgramHasOne) { EXPECT_EQ(graph_.unordered(), 0U); }

TEST_F(Orders, AQuietWithNothingUnderWayOrdersNothing) {
  const auto answer = without(op(Verb::quiet));
  EXPECT_TRUE(answer.seen);
  EXPECT_GT(answer.pairs, 0U);
  EXPECT_EQ(answer.news, 0U);
  EXPECT_EQ(answer.lost, 0U);
}

TEST_F(Orders, WhatNothingElseOrdersIsLost) {
  for (const Verb verb : {Verb::fence, Verb::signal, Verb::wait_until}) {
    const auto answer = without(op(verb));
    EXPECT_GT(answer.news, 0U) << to_string(verb);
    EXPECT_GT(answer.lost, 0U) << to_string(verb);
  }
  EXPECT_GT(without(op(Verb::wait_until), Change::no_acquire).lost, 0U);
  EXPECT_GT(without(op(Verb::wait_until), Change::no_sync).lost, 0U);
}

TEST_F(Orders, OneOfTwoSyncsNamesTheOther) {
  for (const std::size_t number : {0U, 1U}) {
    const auto answer = without(op(Verb::sync, number));
    EXPECT_GT(answer.through, 0U);
    EXPECT_EQ(answer.lost, 0U);
    EXPECT_THAT(answer.others, Contains(op(Verb::sync, 1 - number).text()));
  }
  EXPECT_GT(
      graph_.without({{op(Verb::sync, 0), Change::drop}, {op(Verb::sync, 1), Change::drop}}).lost,
      0U);
}

// The sync in the signal has the fence's work done by every lane.
TEST_F(Orders, TheSyncInAFenceIsMadeUpForByTheSignals) {
  const auto answer = without(op(Verb::fence), Change::no_sync);
  EXPECT_GT(answer.through, 0U);
  EXPECT_EQ(answer.lost, 0U);
  EXPECT_THAT(answer.others, Contains(op(Verb::signal).text() + " (its sync)"));
}

TEST_F(Orders, NothingChangedIsNothingLost) {
  const auto answer = graph_.without({});
  EXPECT_FALSE(answer.seen);
  EXPECT_EQ(answer.through, 0U);
  EXPECT_THAT(answer.others, IsEmpty());
}

}  // namespace
}  // namespace sym::check
