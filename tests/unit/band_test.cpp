// The error band of assumed numbers: rates and times move, counts and what was measured do not.
#include "models/band.hpp"

#include <gtest/gtest.h>

namespace sym::models {
namespace {

TEST(Band, MovesWhatIsAssumedAlone) {
  Machine machine = load_machine("dgx-h100");
  machine.numbers.at("flag_us").measured = true;
  const Machine better = assumed_moved(machine, 25, true);
  const Machine worse = assumed_moved(machine, 25, false);
  EXPECT_DOUBLE_EQ(better.number("nic_gbps"), 1.25 * machine.number("nic_gbps"));
  EXPECT_DOUBLE_EQ(worse.number("nic_gbps"), machine.number("nic_gbps") / 1.25);
  EXPECT_DOUBLE_EQ(better.number("nic_latency_us"), machine.number("nic_latency_us") / 1.25);
  EXPECT_DOUBLE_EQ(worse.number("nic_latency_us"), 1.25 * machine.number("nic_latency_us"));
  for (const char* key : {"flag_us", "nic_window", "sms", "default_blocks", "gemm_tile_m"}) {
    EXPECT_EQ(better.number(key), machine.number(key)) << key;
    EXPECT_EQ(worse.number(key), machine.number(key)) << key;
  }
}

TEST(Band, MovesLinksOfGraphsAndFabrics) {
  const Machine mesh = load_machine("mi300x");
  const Machine torus = load_machine("torus-4x4x4");
  const Machine worse = assumed_moved(mesh, 100, false);
  ASSERT_FALSE(mesh.graph.types.empty());
  for (std::size_t i = 0; i < mesh.graph.types.size(); ++i) {
    const bool measured = mesh.graph.types[i].gbps.measured;
    EXPECT_DOUBLE_EQ(worse.graph.types[i].gbps.value,
                     mesh.graph.types[i].gbps.value / (measured ? 1 : 2));
  }
  ASSERT_FALSE(torus.shape.dimensions.empty());
  EXPECT_DOUBLE_EQ(assumed_moved(torus, 100, true).shape.dimensions[0].gbps.value,
                   2 * torus.shape.dimensions[0].gbps.value);
  EXPECT_GT(assumed_numbers(mesh), 0);
  EXPECT_LT(assumed_numbers(load_machine("h200x2")), assumed_numbers(load_machine("dgx-h200")));
}

}  // namespace
}  // namespace sym::models
