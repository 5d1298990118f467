// Verbs without the sync in them: what one lane does or knows is not the block's until it syncs.
#include <gtest/gtest.h>

#include <string>

#include "backends/check/mutant.hpp"
#include "backends/check/run.hpp"

namespace sym::check {
namespace {

using fiber::Change;
using fiber::Verb;
using F = fiber::FiberBlock;

constexpr std::size_t n = 64;
constexpr Range all{0, n}, half{0, n / 2};

struct Same {
  float operator()(float a) const { return a; }
};

struct Desk {
  Group group;
  Window<float> in, out, more;
  int next, previous;
  const Signals& steps() const { return group.channel.steps; }
  Team before() const { return group.team.only(group.team.previous()); }
};

template <class Kernel>
CheckReport run(fiber::Mutation* mutation, const Kernel& kernel) {
  CheckOptions options;
  options.pes = 2;
  options.mutation = mutation;
  return run_check(options, [&](fiber::FiberWorld& world) {
    const Team team = world.team();
    const Desk desk{{world.channel({1}), team}, world.allocate<float>(n), world.allocate<float>(n),
                    world.allocate<float>(n),   team.pe(team.next()),     team.pe(team.previous())};
    world.launch({}, [=](F& block) { kernel(block, desk); });
  });
}

// The kinds of what is found when every call of `verb` lacks its sync; the kernel is clean with it.
template <class Kernel>
std::string without_sync(Verb verb, const Kernel& kernel) {
  Survey survey(2, 1);
  EXPECT_EQ(run(&survey, kernel).text(), "");
  std::vector<Alteration> alterations;
  for (const Op& op : survey.synced_ops()) {
    if (op.verb == verb) alterations.push_back({op, Change::no_sync});
  }
  EXPECT_FALSE(alterations.empty());
  Mutant mutant(&survey, alterations);
  std::string kinds;
  for (const fiber::Finding& finding : run(&mutant, kernel).findings)
    kinds += (kinds.empty() ? "" : " ") + finding.kind;
  return kinds;
}

// The peer reads what this block has written before its signal.
template <bool sync>
void hands_over(F& block, const Desk& desk) {
  block.transform(desk.out, all, Same{}, desk.in);
  if (sync) block.sync();
  block.signal(desk.steps(), 0, desk.next);
  if (!block.wait_until(desk.steps(), 0, desk.before())) return;
  block.reduce(desk.more, desk.out, all, desk.group.team, Sum{});
}

TEST(Lanes, ASignalWithoutItsSyncReleasesWhatWasBeforeTheLastSync) {
  EXPECT_EQ(without_sync(Verb::signal, hands_over<false>), "race");
  EXPECT_EQ(without_sync(Verb::signal, hands_over<true>), "");
}

template <bool sync>
void puts(F& block, const Desk& desk) {
  block.put_signal(desk.out, desk.in, all, desk.steps(), 0, desk.next);
  if (!block.wait_until(desk.steps(), 0, desk.before())) return;
  if (sync) block.sync();
  block.transform(desk.more, all, Same{}, desk.out);
  block.quiet();
}

TEST(Lanes, AWaitWithoutItsSyncTellsOneLane) {
  EXPECT_EQ(without_sync(Verb::wait_until, puts<false>), "race");
  EXPECT_EQ(without_sync(Verb::wait_until, puts<true>), "");
}

// A put_signal's own payload arrives before its signal, whoever signals.
TEST(Lanes, APutSignalWithoutItsSyncBringsItsPayload) {
  EXPECT_EQ(without_sync(Verb::put_signal, puts<false>), "");
}

template <std::size_t elements>
void rewrites(F& block, const Desk& desk) {
  block.put(desk.out, desk.in, all, desk.next);
  block.quiet();
  block.transform(desk.in, Range{0, elements}, Same{}, desk.more);
}

TEST(Lanes, AQuietWithoutItsSyncCompletesEachLanesOwnPart) {
  EXPECT_EQ(without_sync(Verb::quiet, rewrites<n / 2>), "race");
  EXPECT_EQ(without_sync(Verb::quiet, rewrites<n>), "");  // each lane its own part
}

template <std::size_t elements>
void puts_twice(F& block, const Desk& desk) {
  block.put(desk.out, desk.in, all, desk.next);
  block.fence(desk.next);
  block.put(desk.out, desk.in, Range{0, elements}, desk.next);
  block.quiet();
}

TEST(Lanes, AFenceWithoutItsSyncOrdersEachLanesOwnPart) {
  EXPECT_EQ(without_sync(Verb::fence, puts_twice<n / 2>), "race");
  EXPECT_EQ(without_sync(Verb::fence, puts_twice<n>), "");
}

// The signal begins with a sync: by then every lane has called its fence.
TEST(Lanes, ASignalsSyncStandsInForThatOfTheFence) {
  const auto kernel = [](F& block, const Desk& desk) {
    block.put(desk.out, desk.in, all, desk.next);
    block.fence(desk.next);
    block.signal(desk.steps(), 0, desk.next);
    if (!block.wait_until(desk.steps(), 0, desk.before())) return;
    block.transform(desk.more, half, Same{}, desk.out);
    block.quiet();
  };
  EXPECT_EQ(without_sync(Verb::fence, kernel), "");
}

// A kernel that ends waits for its lanes.
TEST(Lanes, TheEndOfALaunchIsASync) {
  Survey survey(2, 1);
  const auto program = [](fiber::Mutation* mutation) {
    CheckOptions options;
    options.pes = 2;
    options.mutation = mutation;
    return run_check(options, [](fiber::FiberWorld& world) {
      const Window<float> in = world.allocate<float>(n);
      const Window<float> out = world.allocate<float>(n);
      const int next = 1 - world.pe();
      world.launch({}, [=](F& block) {
        block.put(out, in, all, next);
        block.quiet();
      });
      world.launch({}, [=](F& block) { block.transform(in, half, Same{}, in); });
    });
  };
  ASSERT_EQ(program(&survey).text(), "");
  std::vector<Alteration> alterations;
  for (const Op& op : survey.synced_ops()) alterations.push_back({op, Change::no_sync});
  Mutant mutant(&survey, alterations);
  EXPECT_EQ(program(&mutant).text(), "");
  EXPECT_GT(mutant.changed(), 0U);
}

}  // namespace
}  // namespace sym::check
