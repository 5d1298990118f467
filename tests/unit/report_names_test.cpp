// Reports name the verbs that stand in the source, whatever steps a backend makes of them; and both
// sides of a mismatch, and the memory of a wait, for people and for machines.
#include "backends/check/found.hpp"
#include "backends/report/findings.hpp"
#include "core/collective/barrier.hpp"
#include "tests/unit/verdict_desk.hpp"

namespace sym::check {
namespace {

using testing::Not;

constexpr Range all{0, 8};
struct Same {
  float operator()(float value) const { return value; }
};
struct Scale {
  float by;
  float operator()(float value) const { return value * by; }
};

template <class Program>
CheckReport on_two(Program program) {
  CheckOptions options;
  options.pes = 2;
  return run_check(options, program);
}

TEST(Names, TransformBySum) {
  const CheckReport report = on_two([](FiberWorld& world) {
    const auto x = world.allocate<float>(8), y = world.allocate<float>(8);
    launch(world, [=](FiberBlock& block) {
      if (block.pe() == 1) block.put(x, y, all, 0);
      if (block.pe() == 1) block.put(y, x, all, 0);
      if (block.pe() == 0)
        block.transform_by_sum(
            y, all, Same{}, [](float sum) { return Scale{sum}; }, x);
      block.quiet();
    });
  });
  EXPECT_THAT(report.text(), HasSubstr("transform_by_sum"));
  EXPECT_THAT(report.text(), Not(HasSubstr("  sum ")));
  EXPECT_THAT(report.text(), Not(HasSubstr("  transform ")));
  for (const auto& [site, times] : report.statistics.sites) {
    if (site.second == "transform_by_sum") {
      EXPECT_EQ(times, 1U);
    }
    EXPECT_NE(site.second, "sum");
  }
}

TEST(Names, ReceiptOfPackets) {
  for (const bool stores : {false, true}) {
    const CheckReport report = on_two([stores](FiberWorld& world) {
      const auto x = world.allocate<float>(16), y = world.allocate<float>(16);
      const Packets inbox = world.channel({1, 64}).inbox;
      const Team team = world.team();
      launch(world, [=](FiberBlock& block) {
        if (block.pe() == 0) block.put_packets(inbox, 0, x, all, team);
        if (stores) {
          block.receive_packets(per_member(y, 8), x, all, inbox, 0, team);
        } else {
          block.reduce_packets(y, x, all, inbox, 0, team, Sum{});
        }
        block.put(y, x, all, 0);
        block.quiet();
      });
    });
    EXPECT_THAT(report.text(), HasSubstr(stores ? "receive_packets at" : "reduce_packets at"));
    EXPECT_THAT(report.text(), HasSubstr("channel #0 inbox slot 0 lane 1: expected 1, seen 0"));
    EXPECT_THAT(report.text(), Not(HasSubstr(stores ? "reduce_packets" : "receive_packets")));
    EXPECT_THAT(report.text(), Not(HasSubstr("store_packets")));
  }
}

TEST(Names, CopiesOfQueues) {
  for (const bool gets : {false, true}) {
    const CheckReport report = on_two([gets](FiberWorld& world) {
      const auto x = world.allocate<float>(8), y = world.allocate<float>(8);
      auto& queue = world.queue(1);
      const Matrix<float> from = row_of(x, 0, 8), to = row_of(y, 0, 8);
      if (gets) {
        queue.get(to, from, world.pe());  // of oneself, too
      } else {
        queue.put(to, from, 1 - world.pe());
      }
      launch(world, [=](FiberBlock& block) { (void)block.sum(y, all, Same{}); });
    });
    EXPECT_THAT(report.text(), HasSubstr(gets ? "queue 1  get" : "queue 1  put"));
    EXPECT_THAT(report.text(), Not(HasSubstr("copy")));
    for (const auto& [site, times] : report.statistics.sites) EXPECT_NE(site.second, "quiet");
  }
}

TEST(Names, BothSidesOfAMismatch) {
  const CheckReport report = on_two([](FiberWorld& world) {
    const Channel channel = world.channel({2});
    const auto tag = operation_tag(operation_of("sum"), 8, 4, world.pe() == 0 ? 1U : 2U);
    const Group group{channel.tagged(tag), world.team()};
    world.launch({.name = world.pe() == 0 ? "narrow" : "wide", .blocks = 1 + world.pe()},
                 [=](FiberBlock& block) { (void)barrier(block, group); });
  });
  ASSERT_FALSE(report.findings.empty());
  const Finding& finding = report.findings[0];
  EXPECT_EQ(finding.kind, "mismatch");
  EXPECT_THAT(finding.why, HasSubstr(" came for one operation, PE "));
  EXPECT_THAT(finding.why, HasSubstr("what differs: the kernels ("));
  EXPECT_THAT(finding.why, HasSubstr("the grids ("));
  EXPECT_THAT(finding.fix, HasSubstr("the same operation"));
  ASSERT_EQ(finding.places.size(), 2U);
  EXPECT_EQ(finding.places[0].pe + finding.places[1].pe, 1);
  EXPECT_GT(finding.places[1].site.line, 0);
}

TEST(Names, MemoryOfAWaitForMachines) {
  const CheckReport report = on_two([](FiberWorld& world) {
    const Group group{world.channel({1}), world.team()};
    launch(world, [=](FiberBlock& block) {
      if (block.pe() == 1) block.wait_until(group.channel.steps, 0, group.team.only(0));
    });
  });
  ASSERT_EQ(report.findings.size(), 1U);
  const report::Finding found = found_of(report.findings[0]);
  const std::string name = "channel #0 steps slot 0 lane 0";
  EXPECT_EQ(found.places[0].memory, name);
  if (!report::has_json()) GTEST_SKIP() << "no JSON in this build";
  report::KnownFinding known;
  known.finding = found;
  EXPECT_THAT(report::to_json_lines({known}, 1), HasSubstr("\"memory\":\"" + name + "\""));
  EXPECT_THAT(report::to_sarif({known}, {}, 1), HasSubstr("wait_until, " + name));
}

}  // namespace
}  // namespace sym::check
