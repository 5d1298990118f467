// Boxes whose GPUs are joined by links and not by switches: what keeps a link busy, and that `auto`
// knows it.
#include "models/wires.hpp"

#include <gtest/gtest.h>

#include "models/choose.hpp"

namespace sym::models {
namespace {

constexpr double mib = 1024 * 1024;

// The machine with every link of its node at so many GB/s a lane.
Machine with_links_of(const char* name, double gbps) {
  Machine machine = load_machine(name);
  machine.graph = node_graph(machine);
  for (LinkType& type : machine.graph.types) {
    type.gbps.value = gbps;
    type.gbps_back.reset();
  }
  return machine;
}

TEST(Wires, AMeshHasALinkForEachPeer) {
  const Wires wires(with_links_of("mi300x", 50), 8);
  const double bytes = 50e3;  // a microsecond
  EXPECT_DOUBLE_EQ(wires.shift_us(bytes, 3), 1);
  EXPECT_DOUBLE_EQ(wires.all_us(bytes, 7), 1);
  EXPECT_DOUBLE_EQ(wires.all_us(bytes, 2), 4);
  EXPECT_DOUBLE_EQ(wires.all_us(bytes, 1), 7);
}

// Two GPUs on each of 4 PCIe switches, two switches on each of 2 sockets.
TEST(Wires, WhatSocketsExchangePassesOneLink) {
  const Wires wires(with_links_of("pcie-8xa100", 50), 8);
  const double bytes = 50e3;
  EXPECT_DOUBLE_EQ(wires.shift_us(bytes, 1), 1);  // 3 to 4 and 7 to 0, one each way
  EXPECT_DOUBLE_EQ(wires.shift_us(bytes, 4), 4);  // all
  EXPECT_DOUBLE_EQ(wires.all_us(bytes, 7), 16);   // from 4 to 4
  EXPECT_DOUBLE_EQ(wires.us(bytes, [](int pe) { return pe ^ 1; }), 1);  // below the switches
  EXPECT_DOUBLE_EQ(wires.us(bytes, [](int pe) { return pe; }), 0);
}

TEST(Wires, SwitchesLeaveItToThePorts) {
  EXPECT_EQ(Wires(load_machine("dgx-h100"), 8).all_us(1e9, 1), 0);
}

std::string chosen(const char* machine, const char* algorithm, double bytes) {
  Menu menu{{"one_shot", "direct", "ring", "copy_engine"}, 80, 80};
  if (std::string(algorithm) == "all_to_all") menu.variants = {"one_shot", "direct", "copy_engine"};
  if (std::string(algorithm) == "all_reduce")
    menu.variants = {"one_shot", "one_shot_read", "two_shot", "ring", "halving_doubling", "staged"};
  return choose(load_machine(machine), {algorithm, 8, bytes}, menu).variant;
}

// In the simulator each takes the least, and what closed forms of ports chose took up to five times
// as long (experiments/auto_choice).
TEST(Choose, KnowsTheLinksOfBoxesWithoutSwitches) {
  for (const double bytes : {4 * mib, 256 * mib}) {
    SCOPED_TRACE(bytes);
    EXPECT_EQ(chosen("dgx1-v100", "all_reduce", bytes), "halving_doubling");
    EXPECT_EQ(chosen("dgx1-v100", "all_gather", bytes), "ring");
    EXPECT_EQ(chosen("dgx1-v100", "all_to_all", bytes), "copy_engine");
    EXPECT_EQ(chosen("pcie-8xa100", "all_reduce", bytes), "ring");
    EXPECT_EQ(chosen("pcie-8xa100", "all_gather", bytes), "ring");
    EXPECT_EQ(chosen("mi300x", "all_reduce", bytes), "two_shot");
    EXPECT_EQ(chosen("mi300x", "all_gather", bytes), "one_shot");
    EXPECT_EQ(chosen("mi300x", "all_to_all", bytes), "one_shot");
  }
  EXPECT_EQ(chosen("dgx1-v100", "all_reduce", 64 * 1024), "halving_doubling");
}

// Eight PEs have seven copies each and as many flags: a copy of 32 MiB in all is not worth them.
TEST(Choose, KnowsTheFlagsOfEachMembersCopies) {
  EXPECT_EQ(chosen("dgx-h100", "all_gather", 32 * mib), "direct");
  EXPECT_EQ(chosen("dgx-h100", "all_gather", 256 * mib), "copy_engine");
}

}  // namespace
}  // namespace sym::models
