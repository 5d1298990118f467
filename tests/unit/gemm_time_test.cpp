// The model of a GEMM's time against the two published points that it is fitted to.
#include "models/gemm_time.hpp"

#include <gtest/gtest.h>

namespace sym::models {
namespace {

// CUTLASS Distributed GEMM (PR 1907): 16384 x 106496 x 16384 over 8 and 4 H100, as many stages as
// GPUs, each an equal share of rows of the GPU's columns.
TEST(GemmTime, AgreesWithBothPublishedPoints) {
  const Machine machine = load_machine("dgx-h100");
  const auto layer_ms = [&](std::size_t gpus) {
    return 1e-3 * static_cast<double>(gpus) * gemm_us(machine, 16384 / gpus, 106496 / gpus, 16384);
  };
  EXPECT_NEAR(layer_ms(8), 9.16037, 0.005 * 9.16037);
  EXPECT_NEAR(layer_ms(4), 16.8623, 0.005 * 16.8623);
}

TEST(GemmTime, WavesAreWhole) {
  Machine machine = load_machine("dgx-h100");
  machine.numbers["gemm_tflops_bf16"].value = 100;
  machine.numbers["gemm_tile_m"].value = 10;
  machine.numbers["gemm_tile_n"].value = 20;
  machine.numbers["sms"].value = 6;
  EXPECT_DOUBLE_EQ(wave_efficiency(machine, 20, 60), 1.0);       // 6 tiles on 6 SMs
  EXPECT_DOUBLE_EQ(wave_efficiency(machine, 21, 60), 9.0 / 12);  // 9 tiles, 2 waves
  EXPECT_DOUBLE_EQ(wave_efficiency(machine, 1, 1), 1.0 / 6);
  EXPECT_DOUBLE_EQ(gemm_us(machine, 20, 60, 50), 2.0 * 20 * 60 * 50 / 100e6);
}

// A machine file need not say: then tiles and SMs are those of H100.
TEST(GemmTime, DefaultsAreHopper) {
  const Machine full = load_machine("dgx-h100");
  Machine bare = full;
  for (const char* key : {"gemm_tile_m", "gemm_tile_n", "sms"})
    ASSERT_EQ(bare.numbers.erase(key), 1U);
  EXPECT_DOUBLE_EQ(gemm_us(bare, 4096, 26624, 16384), gemm_us(full, 4096, 26624, 16384));
}

}  // namespace
}  // namespace sym::models
