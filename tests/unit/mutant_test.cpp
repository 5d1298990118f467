// Mutants of small kernels: each change does what its name says, and the checker notices.
#include <gmock/gmock.h>

#include <algorithm>
#include <set>
#include <string>

#include "backends/check/mutants_of.hpp"
#include "backends/check/run.hpp"
#include "backends/thread/block.hpp"
#include "core/collective/barrier.hpp"

namespace sym::check {
namespace {

using fiber::Change;
using fiber::Verb;
using testing::AnyOf;
using testing::Eq;

// Any Block can be mutated.
static_assert(Block<fiber::MutantBlock<thread::ThreadBlock>>);

constexpr std::size_t n = 64;
constexpr Range all{0, n};

struct Same {
  float operator()(float a) const { return a; }
};

// Rows to the next PE, twice: by put, fence and signal, and by put_signal.
struct Exchange {
  Group group;
  Window<float> in, out, more;
  template <Block B>
  void operator()(B& block) const {
    const Signals& steps = group.channel.steps;
    const int next = group.team.pe(group.team.next());
    const Team previous = group.team.only(group.team.previous());
    const auto slot = static_cast<std::size_t>(block.index());
    if (!barrier(block, group)) return;
    block.put(out, in, all, next);
    block.fence(next);
    block.signal(steps, slot, next);
    if (!block.wait_until(steps, slot, previous)) return;
    block.sum(out, all, Same{});
    block.put_signal(more, out, all, steps, slot, next);
    if (!block.wait_until(steps, slot, previous)) return;
    block.sum(more, all, Same{});
    block.quiet();
  }
};

CheckReport run(const CheckOptions& options) {
  return run_check(options, [](fiber::FiberWorld& world) {
    const Group group{world.channel({1}), world.team()};
    const Exchange kernel{group, world.allocate<float>(n), world.allocate<float>(n),
                          world.allocate<float>(n)};
    const std::vector<float> numbers(n, 1.0F);
    for (int iteration = 0; iteration < 2; ++iteration) {
      world.write(kernel.in, numbers.data(), n);
      world.launch({}, kernel);
      world.synchronize();
    }
  });
}

Survey survey_of_exchange() {
  Survey survey(3, 2);
  CheckOptions options;
  options.pes = 3;
  options.mutation = &survey;
  EXPECT_EQ(run(options).text(), "");
  return survey;
}

// The kind of the first finding of a mutant; empty if there is none.
std::string kind_of(const NamedMutant& named) {
  Mutant mutant(nullptr, named.alterations);
  CheckOptions options;
  options.pes = 3;
  options.stop_at_first = true;
  options.mutation = &mutant;
  const CheckReport report = run(options);
  EXPECT_GT(mutant.changed(), 0U) << named.text();
  EXPECT_LE(report.findings.size(), 1U);
  return report.clean() ? "" : report.findings.front().kind;
}

TEST(Mutants, EachLooserOrderOfAnExchangeIsFound) {
  std::set<std::string> groups;
  for (const NamedMutant& mutant : mutants_of(survey_of_exchange())) {
    groups.insert(mutant.group);
    const std::string& group = mutant.group;
    if (group == "fence" || group == "epoch") {
      EXPECT_EQ(kind_of(mutant), "race") << mutant.text();
    } else if (group == "signal") {
      EXPECT_EQ(kind_of(mutant), "deadlock") << mutant.text();
    } else if (group == "peer") {
      EXPECT_THAT(kind_of(mutant), AnyOf(Eq("race"), Eq("deadlock"))) << mutant.text();
    } else if (group == "barrier" && mutant.alterations.size() == 3) {
      EXPECT_EQ(kind_of(mutant), "race") << mutant.text();
    }
  }
  EXPECT_EQ(groups, (std::set<std::string>{"barrier", "epoch", "fence", "inner sync", "peer",
                                           "quiet", "signal", "slot", "wait"}));
}

TEST(Mutants, AWaitThatAcquiresNothingOrdersNothing) {
  std::size_t waits = 0;
  for (const NamedMutant& mutant : mutants_of(survey_of_exchange())) {
    if (mutant.group != "wait") continue;
    ++waits;
    EXPECT_EQ(kind_of(mutant), "race") << mutant.text();
  }
  EXPECT_EQ(waits, 6U);  // of three places: dropped, and without its edge
}

// Whether an op is known from its call or from its edge, it is the same place.
TEST(Mutants, AnOpThatIsCalledIsTheOneThatAcquires) {
  const Survey survey = survey_of_exchange();
  const std::vector<Op> called = survey.ops();
  for (const Op& op : survey.acquiring_ops()) {
    EXPECT_NE(std::find(called.begin(), called.end(), op), called.end()) << op.text();
    EXPECT_EQ(kind_of({"", "", op, {{op, Change::no_acquire}}}), "race") << op.text();
  }
}

TEST(Mutants, AMutantOfAnotherPlaceIsTheProgramItself) {
  Mutant mutant(nullptr, {{{"elsewhere.hpp", 1, Verb::fence}, Change::drop}});
  CheckOptions options;
  options.pes = 2;
  options.mutation = &mutant;
  EXPECT_EQ(run(options).text(), "");
  EXPECT_EQ(mutant.changed(), 0U);
}

// What every trial leaves out must not make a change that is never reached look like one that is.
TEST(Mutants, WhatTheHostLeavesOutIsNoMutant) {
  Mutant mutant(nullptr, {{{"World::synchronize", 0, Verb::host}, Change::drop}});
  CheckOptions options;
  options.pes = 2;
  options.mutation = &mutant;
  EXPECT_EQ(run(options).text(), "");
  EXPECT_EQ(mutant.changed(), 0U);
  // One block on each PE: its row is row 0.
  std::vector<Alteration> rows;
  for (const Op& op : survey_of_exchange().ops()) rows.push_back({op, Change::first_slot});
  Mutant shared(nullptr, rows);
  options.mutation = &shared;
  EXPECT_EQ(run(options).text(), "");
  EXPECT_EQ(shared.changed(), 0U);
}

// A buffer that a copy fills and a product reads, on two queues of each PE.
CheckReport run_queues(const CheckOptions& options) {
  return run_check(options, [](fiber::FiberWorld& world) {
    const auto own = world.allocate<float>(16);
    const auto buffer = world.allocate<float>(16);
    const auto result = world.allocate<float>(16);
    const Posts posts = world.posts(2);
    const auto matrix = [](Window<float> window) { return Matrix<float>{window, 4, 4, 4}; };
    const int next = (world.pe() + 1) % world.n_pes();
    const int previous = (world.pe() + world.n_pes() - 1) % world.n_pes();
    auto& copies = world.queue(1);
    auto& products = world.queue(0);
    for (int iteration = 0; iteration < 2; ++iteration) {
      copies.get(matrix(buffer), matrix(own), next);
      products.after(copies.record());
      Gemm<float> gemm;
      gemm.a = gemm.b = matrix(buffer);
      gemm.d = matrix(result);
      products.gemm(gemm);
      products.post(posts, 0, next);
      products.take(posts, 0, previous);  // which has read `own`
      copies.after(products.record());
      products.put(matrix(own), matrix(result), world.pe());
      products.post(posts, 1, previous);
      products.take(posts, 1, next);  // which has rewritten its own
      copies.after(products.record());
    }
  });
}

TEST(Mutants, OperationsOfQueuesAreToldApartByOrdinals) {
  CheckOptions options;
  options.pes = 3;
  options.stop_at_first = true;
  Survey survey(3, 2);
  options.mutation = &survey;
  ASSERT_EQ(run_queues(options).text(), "");
  std::size_t takes = 0;
  for (const NamedMutant& named : mutants_of(survey)) {
    EXPECT_EQ(named.op.ordinal, 0) << named.text();  // each stands on a line of its own
    if (named.op.verb != Verb::take || named.alterations.front().change != Change::late) continue;
    Mutant mutant(&survey, named.alterations);
    options.mutation = &mutant;
    const CheckReport report = run_queues(options);
    ASSERT_FALSE(report.clean()) << named.text();
    EXPECT_THAT(report.findings.front().kind, AnyOf(Eq("race"), Eq("post"))) << named.text();
    ++takes;
  }
  EXPECT_EQ(takes, 2U);
}

TEST(Mutants, OneBufferForMessagesLosesOne) {
  Packets packets;
  packets.capacity_bytes = 16;
  packets.lanes.lanes = 2;
  EXPECT_NE(packets.offset_bytes(0, 1, 1), packets.offset_bytes(0, 1, 2));
  EXPECT_EQ(packets.offset_bytes(0, 1, 1), packets.offset_bytes(0, 1, 3));
  const Packets one = packets.in_one_buffer();
  EXPECT_EQ(one.offset_bytes(0, 1, 1), one.offset_bytes(0, 1, 2));
}

}  // namespace
}  // namespace sym::check
