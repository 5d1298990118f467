// Bounds: closed forms on a machine of round numbers, and that no measured time lies below them.
#include "models/bounds.hpp"

#include <gtest/gtest.h>

#include "tests/unit/machine_checks.hpp"

namespace sym::models {
namespace {

// 100 GB/s a port, 200 one way, 10 GB/s a NIC; 1 us of latency in a node, 4 between nodes.
Machine round_machine(int nodes) {
  Machine machine;
  machine.name = "round";
  machine.nodes = nodes;
  machine.gpus_per_node = 4;
  machine.nics_per_node = 4;
  machine.nic_of_gpu = {0, 1, 2, 3};
  machine.fabric = "rail";
  for (const auto& [key, value] : std::map<std::string, double>{{"launch_us", 0.5},
                                                                {"flag_us", 0.5},
                                                                {"port_gbps", 100},
                                                                {"port_oneway_gbps", 200},
                                                                {"copy_engine_gbps", 90},
                                                                {"nic_gbps", 10},
                                                                {"nic_post_us", 0.5},
                                                                {"nic_latency_us", 3}}) {
    machine.numbers[key] = {value, "test", false};
  }
  return machine;
}

void expect_bound(const Bound& bound, double us, const std::string& by) {
  EXPECT_NEAR(bound.us, us, 1e-9 * us);
  EXPECT_EQ(bound.bound_by, by);
}

TEST(BusFactor, IsNcclTests) {
  EXPECT_DOUBLE_EQ(bus_factor("all_reduce", 4), 1.5);
  EXPECT_DOUBLE_EQ(bus_factor("all_gather", 4), 0.75);
  EXPECT_DOUBLE_EQ(bus_factor("reduce_scatter", 4), 0.75);
  EXPECT_DOUBLE_EQ(bus_factor("all_to_all", 4), 0.75);
  EXPECT_DOUBLE_EQ(bus_factor("broadcast", 4), 1);
  EXPECT_DOUBLE_EQ(bus_factor("all_reduce", 1), 0);
  EXPECT_PRED2(contains, refusal([] { bus_factor("allreduce", 4); }),
               "nearest name is 'all_reduce'");
  EXPECT_PRED2(contains, refusal([] { bus_factor("all_reduce", 0); }), "1 or more");
}

TEST(Bounds, OneNode) {
  const Machine machine = round_machine(1);
  const double bytes = 4e6;  // 40 us at 100 GB/s
  expect_bound(all_reduce_bound(machine, 4, bytes), 60, "port");
  expect_bound(all_gather_bound(machine, 4, bytes), 30, "port");
  expect_bound(reduce_scatter_bound(machine, 4, bytes), 30, "port");
  expect_bound(broadcast_bound(machine, 4, bytes), 20, "port");
  expect_bound(collective_bound("all_to_all", machine, 4, bytes), 30, "port");
  expect_bound(all_reduce_bound(machine, 4, 8), 1, "latency");
  expect_bound(all_reduce_bound(machine, 1, bytes), 0.5, "launch");
  for (const char* name : {"all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast"})
    expect_bound(collective_bound(name, machine, 4, 0), 0.5, "launch");  // nobody waits for a flag
}

TEST(Bounds, AcrossNodesTheNicsBind) {
  const Machine machine = round_machine(2);
  const double bytes = 4e6;  // 100 us at 4 NICs x 10 GB/s
  expect_bound(all_reduce_bound(machine, 8, bytes), 100, "nic");
  expect_bound(all_gather_bound(machine, 8, bytes), 50, "nic");
  expect_bound(broadcast_bound(machine, 8, bytes), 100, "nic");
  expect_bound(all_to_all_bound(machine, 8, bytes), 200, "nic");  // 4 PEs lack half of it each
  expect_bound(all_to_all_bound(machine, 5, bytes), 80, "nic");   // 4 lack a fifth; one 4/5
  expect_bound(all_gather_bound(machine, 5, bytes), 80, "nic");   // the lone PE's node lacks 4/5
  expect_bound(all_reduce_bound(machine, 8, 8), 4, "latency");
  Machine wide = machine;
  wide.numbers.at("nic_gbps").value = 1000;
  expect_bound(all_gather_bound(wide, 8, 11e6), 8.75, "port");  // 7/8 of it through 100 + 1000 GB/s
}

TEST(Bounds, BadCallsAreRefused) {
  const Machine machine = round_machine(1);
  EXPECT_PRED2(contains, refusal([&] { all_reduce_bound(machine, 5, 8); }), "1 to 4 are accepted");
  EXPECT_PRED2(contains, refusal([&] { all_gather_bound(machine, 0, 8); }), "1 to 4 are accepted");
  EXPECT_PRED2(contains, refusal([&] { collective_bound("all_gathr", machine, 4, 8); }),
               "'all_gather'");
  EXPECT_DOUBLE_EQ(collective_bound("all_reduce", machine, 4, 4e6).us, 60);
}

// The fastest times of the two-H200 baseline, 2026-11-29.
TEST(Bounds, LieBelowWhatWasMeasured) {
  const Machine machine = load_machine("h200x2");
  const double mib = 1048576;
  const auto within = [](const Bound& bound, double measured_us, double at_least) {
    EXPECT_LT(bound.us, measured_us);
    EXPECT_GT(bound.us, at_least * measured_us);
  };
  within(all_reduce_bound(machine, 2, 256 * mib), 803, 0.85);
  within(all_reduce_bound(machine, 2, 1024), 2.8, 0.4);
  within(all_gather_bound(machine, 2, 256 * mib), 361, 0.95);
  within(reduce_scatter_bound(machine, 2, 256 * mib), 583, 0.55);
  within(broadcast_bound(machine, 2, 256 * mib), 256 * mib / 395.9e3,
         0.99);  // copy engine, one way
}

}  // namespace
}  // namespace sym::models
