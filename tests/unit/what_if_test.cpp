// Machines with changed numbers, and lists of machines.
#include "models/what_if.hpp"

#include <gtest/gtest.h>

#include "tests/unit/machine_checks.hpp"

namespace sym::models {
namespace {

std::string refused_changes(const std::string& machine, const std::string& changes) {
  return refusal([&] { what_if(load_machine(machine), changes); });
}

TEST(WhatIf, FactorsAndValuesChangeWhatTheyNameAndNothingElse) {
  const Machine before = load_machine("dgx-h100*4");
  const Machine after = what_if(before, "nic=2x,nvlink=0.5x,launch_us=3");
  EXPECT_DOUBLE_EQ(after.number("nic_gbps"), 2 * before.number("nic_gbps"));
  for (const char* key : {"port_gbps", "port_oneway_gbps", "port_read_gbps", "copy_engine_gbps"})
    EXPECT_DOUBLE_EQ(after.number(key), before.number(key) / 2) << key;
  EXPECT_DOUBLE_EQ(after.number("launch_us"), 3);
  EXPECT_EQ(after.name, "dgx-h100+nic=2x+nvlink=0.5x+launch_us=3");
  int changed = 0;
  for (const auto& [key, quantity] : after.numbers) {
    if (quantity == before.numbers.at(key)) continue;
    ++changed;
    EXPECT_FALSE(quantity.measured) << key;
    EXPECT_EQ(quantity.source.rfind("assumed: what if ", 0), 0U) << key;
  }
  EXPECT_EQ(changed, 7);
  expect_equal(what_if(before, ""), before);
}

TEST(WhatIf, LinksOfAGraphAndOfAFabricFollow) {
  const Graph cube = what_if(load_machine("dgx1-v100"), "nvlink=2x,pcie=3x,socket=4x").graph;
  for (const LinkType& type : cube.types) {
    const double wanted = type.kind == LinkKind::nvlink ? 40
                          : type.kind == LinkKind::pcie ? 36
                                                        : 24;
    EXPECT_DOUBLE_EQ(type.gbps.value, wanted) << type.name;
  }
  const Machine box = what_if(load_machine("pcie-8xa100"), "pcie=2x");
  EXPECT_DOUBLE_EQ(box.number("port_gbps"), 48);  // a port that is a PCIe link
  const Machine torus = what_if(load_machine("torus-4x4x4"), "nic=2x,latency=0.5x");
  EXPECT_DOUBLE_EQ(torus.shape.dimensions[1].gbps.value, 97);
  EXPECT_DOUBLE_EQ(torus.shape.dimensions[1].latency_us.value, 0.15);
  const Machine tree = what_if(load_machine("dgx-h100-fat-tree"), "fabric=4x");
  EXPECT_DOUBLE_EQ(tree.number("leaf_oversubscription"), 0.5);
}

TEST(WhatIf, WhatIsNoChangeIsRefused) {
  EXPECT_PRED2(contains, refused_changes("dgx-h100", "nick=2x"), "the nearest name is 'nic'");
  EXPECT_PRED2(contains, refused_changes("dgx-h100", "port_gpbs=2x"), "'port_gbps'");
  EXPECT_PRED2(contains, refused_changes("h200x2", "nic=2x"), "does not have");
  EXPECT_PRED2(contains, refused_changes("h200x2", "nic_gbps=2x"), "does not have");
  EXPECT_PRED2(contains, refused_changes("pcie-8xa100", "nvlink=2x"), "pcie is accepted");
  EXPECT_PRED2(contains, refused_changes("dgx-h100", "nvlink=400"), "a factor such as 2x");
  EXPECT_EQ(refused_changes("dgx-h100", "nic=100"), "");
  EXPECT_PRED2(contains, refused_changes("torus-4x4x4", "nic=100"), "a factor such as 2x");
  EXPECT_PRED2(contains, refused_changes("dgx-h100", "nvls_efficiency=1.2"),
               "nvls_efficiency is 1.2; a share above 0 and up to 1");
  EXPECT_PRED2(contains, refused_changes("dgx-h100", "nvls_efficiency=2x"), "up to 1");
  EXPECT_PRED2(contains, refused_changes("dgx-h100", "sms=0.5"), "a whole number from 1");
  EXPECT_EQ(refused_changes("dgx-h100", "nvls_efficiency=1"), "");
  for (const char* bad :
       {"nic", "nic=", "nic=x", "nic=0x", "nic=-1x", "nic=2y", "nic=nan", "", "nic=2x,"})
    EXPECT_EQ(refused_changes("dgx-h100", bad).empty(), *bad == '\0') << bad;
}

TEST(MachineList, CountsOfNodesRunByAFactor) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(machine_list("dgx-h100"), Names{"dgx-h100"});
  EXPECT_EQ(machine_list("dgx-h100*1:8,a.json*3"),
            (Names{"dgx-h100*1", "dgx-h100*2", "dgx-h100*4", "dgx-h100*8", "a.json*3"}));
  EXPECT_EQ(machine_list("m*2:30:x4"), (Names{"m*2", "m*8", "m*30"}));
  EXPECT_EQ(machine_list("m*5:5"), Names{"m*5"});
  for (const char* bad : {"m*8:4", "m*0:4", "m*1:", "m*1:4:2", "m*1:4:x1", "m*1:4:x", "m*a:4"})
    EXPECT_PRED2(contains, refusal([&] { machine_list(bad); }), "is accepted") << bad;
}

}  // namespace
}  // namespace sym::models
