// The two-level all-reduce: right under the checker for any shape, and what it takes on a machine.
#include "core/collective/hierarchical.hpp"

#include <gtest/gtest.h>

#include "backends/check/run.hpp"
#include "core/collective/all_reduce.hpp"
#include "sim/run.hpp"

namespace sym {
namespace {

using fiber::FiberBlock;
using fiber::FiberWorld;

TEST(Team, SlicesOfStridedAndListedTeams) {
  const Team strided = Team::strided(9, 1, 2, 8);  // PEs 1, 3, ..., 15; PE 9 is rank 4
  const Team rail = strided.slice(0, 4, 2);        // ranks 0 and 4
  EXPECT_EQ(rail.pe(1), 9);
  EXPECT_EQ(rail.rank(), 1);
  EXPECT_EQ(strided.slice(4, 1, 4).rank(), 0);
  EXPECT_EQ(strided.slice(0, 1, 4).rank(), -1);
  const int members[] = {7, 5, 3, 2};
  const Team listed = Team::listed(3, members, 4);
  EXPECT_EQ(listed.slice(0, 2, 2).pe(1), 3);
  EXPECT_EQ(listed.slice(0, 2, 2).rank(), 1);
  EXPECT_EQ(listed.slice(1, 2, 2).rank(), -1);
  EXPECT_EQ(listed.slice(0, 2, 2).only(1).pe(0), 3);
}

struct Shape {
  int pes, per_node, blocks;
  std::size_t n;
};

// Three launches over the same windows, so that a slot or a buffer that is used too early shows.
std::string checked(const Shape& shape, const std::string& schedule, std::uint64_t seed) {
  std::string wrong;
  check::CheckOptions options;
  options.pes = shape.pes;
  options.schedule = schedule;
  options.seed = seed;
  const check::CheckReport report = check::run_check(options, [&](FiberWorld& world) {
    const auto in = world.allocate<std::int32_t>(shape.n);
    const auto work = world.allocate<std::int32_t>(shape.n);
    const auto out = world.allocate<std::int32_t>(shape.n);
    const Group group{world.channel({shape.blocks}), world.team()};
    std::vector<std::int32_t> values(shape.n);
    for (int launch = 0; launch < 3; ++launch) {
      for (std::size_t i = 0; i < shape.n; ++i)
        values[i] = static_cast<std::int32_t>(i) * (launch + 1) + world.pe();
      world.write(in, values.data(), shape.n);
      world.launch({.name = "hierarchical", .blocks = shape.blocks}, [=](FiberBlock& block) {
        block.enter(group.channel);
        all_reduce_hierarchical(block, group, in, work, out, shape.n, Sum{}, shape.per_node);
        block.leave(group.channel);
      });
      world.synchronize();
      world.read(values.data(), out, shape.n);
      const int pes = shape.pes;
      for (std::size_t i = 0; i < shape.n; ++i) {
        const std::int32_t sum =
            static_cast<std::int32_t>(i) * (launch + 1) * pes + pes * (pes - 1) / 2;
        if (values[i] != sum && wrong.empty())
          wrong = "launch " + std::to_string(launch) + ", PE " + std::to_string(world.pe()) +
                  ", element " + std::to_string(i) + ": " + std::to_string(values[i]) + ", not " +
                  std::to_string(sum);
      }
    }
  });
  return report.text() + wrong;
}

TEST(AllReduceHierarchical, IsRightForAnyShapeUnderTheChecker) {
  for (const Shape& shape :
       {Shape{1, 1, 1, 5}, Shape{4, 2, 1, 64}, Shape{6, 3, 2, 100}, Shape{6, 2, 3, 1},
        Shape{3, 1, 1, 33}, Shape{4, 4, 2, 40}, Shape{12, 4, 1, 1000}, Shape{10, 2, 2, 77}}) {
    SCOPED_TRACE(std::to_string(shape.pes) + " PEs, " + std::to_string(shape.per_node) + " a node");
    EXPECT_EQ(checked(shape, "worst", 1), "");
    for (std::uint64_t seed = 1; seed <= 5; ++seed) EXPECT_EQ(checked(shape, "random", seed), "");
  }
}

// Time from launch to end on the slowest PE, all of the machine's PEs, n floats.
double time_us(const std::string& name, bool hierarchical, std::size_t n) {
  sim::SimOptions options;
  options.machine = models::load_machine(name);
  options.pes = options.machine.pes();
  options.network = "ports";
  options.data = false;
  const int per_node = options.machine.gpus_per_node;
  double slowest = 0;
  const sim::SimReport report = sim::run_sim(options, [&](FiberWorld& world) {
    const auto in = world.allocate<float>(n);
    const auto work = world.allocate<float>(n);
    const auto out = world.allocate<float>(n);
    const Group group{world.channel({32}), world.team()};
    world.barrier();
    const double begin = world.mark_us();
    world.launch({.name = "all_reduce", .blocks = 32, .symmetric = true}, [=](FiberBlock& block) {
      block.enter(group.channel);
      if (hierarchical)
        all_reduce_hierarchical(block, group, in, work, out, n, Sum{}, per_node);
      else
        all_reduce_ring(block, group, in, out, n, Sum{});
      block.leave(group.channel);
    });
    slowest = std::max(slowest, world.mark_us() - begin);
  });
  EXPECT_EQ(report.findings.size(), 0U);
  return slowest;
}

TEST(AllReduceHierarchical, UsesAllNicsAndFewSteps) {
  // Large: the flat ring crosses nodes through one NIC, this through all eight. Its time is at
  // least what ports and NICs take, and at most half as much again.
  const std::size_t n = std::size_t{1} << 28;
  const models::Machine machine = models::load_machine("dgx-h100*4");
  const double bytes = 4.0 * static_cast<double>(n);
  const double nic_us = 2 * 0.75 * bytes / 8 / (machine.number("nic_gbps") * 1e3);
  const double port_us = 2 * 0.875 * bytes / (machine.number("port_gbps") * 1e3);
  const double time = time_us("dgx-h100*4", true, n);
  EXPECT_GT(time, nic_us + port_us);
  EXPECT_LT(time, 1.5 * (nic_us + port_us));
  EXPECT_LT(time, time_us("dgx-h100*4", false, n));
  // Small: 2(N-1) steps, all between nodes, in place of 2(P-1), an eighth of them between nodes.
  EXPECT_LT(time_us("dgx-h100*16", true, 1024), time_us("dgx-h100*16", false, 1024) / 3);
}

}  // namespace
}  // namespace sym
