// Calibrating a simulated machine gives its own constants back: the tests on the machine, the fit
// and the simulator agree on what each number means.
#include <gtest/gtest.h>

#include <cmath>

#include "experiments/sym/calibrate_run.hpp"
#include "models/what_if.hpp"
#include "sim/run.hpp"

namespace sym::command {
namespace {

std::map<std::string, models::Fitted> calibrate(const models::Machine& machine,
                                                const models::Machine& base, int pes) {
  std::vector<models::Sample> samples = models::calibration_tests(base, pes, 132);
  sim::SimOptions options;
  options.machine = machine;
  options.pes = pes;
  options.network = "ports";
  options.data = false;
  const sim::SimReport report = sim::run_sim(options, [&](fiber::FiberWorld& world) {
    const auto times = calibration_times(world, samples, [](std::size_t) {});
    for (std::size_t i = 0; i < times.size(); ++i)
      samples[i].us = std::max(samples[i].us, times[i]);
  });
  EXPECT_TRUE(report.findings.empty()) << report.findings[0].text;
  return models::fit_numbers(samples, base);
}

struct Tolerance {
  const char* key;
  double percent;
};
// Lines are exact, so that what is left is rounding; a packet's 16 bytes take 0.4 ns beside its
// flag, a load's another 0.9. Rates of a block are of bytes in whole, as networks count them.
constexpr Tolerance tolerances[] = {{"launch_us", 0.01},
                                    {"ramp_us", 0.1},
                                    {"sync_us", 0.01},
                                    {"load_local_us", 0.01},
                                    {"load_remote_us", 0.2},
                                    {"flag_us", 0.2},
                                    {"flag_turn_us", 0.01},
                                    {"release_us", 0.3},
                                    {"early_us", 0.01},
                                    {"packet_pass_us", 0.5},
                                    {"sm_write_gbps", 0.1},
                                    {"sm_read_gbps", 0.1},
                                    {"sm_reduce_gbps", 0.1},
                                    {"sm_local_gbps", 0.1},
                                    {"hbm_gbps", 0.1},
                                    {"port_gbps", 0.1},
                                    {"port_read_gbps", 0.1},
                                    {"copy_engine_gbps", 0.1},
                                    {"copy_engine_start_us", 0.1},
                                    {"copy_engine_turn_us", 0.1}};

void expect_back(const models::Machine& machine, const models::Machine& base) {
  const auto numbers = calibrate(machine, base, 2);
  for (const Tolerance& one : tolerances) {
    ASSERT_TRUE(numbers.contains(one.key)) << one.key;
    const double wanted = machine.number(one.key);
    EXPECT_NEAR(numbers.at(one.key).value, wanted, one.percent / 100 * wanted) << one.key;
  }
}

TEST(SimCalibrate, H200x2ComesBack) {
  const models::Machine machine = models::load_machine("h200x2");
  expect_back(machine, machine);
}

// With other constants than the base's, so that none of them can have come from there.
TEST(SimCalibrate, AnotherMachineComesBackOnTheSameBase) {
  const models::Machine base = models::load_machine("h200x2");
  std::string changes;
  double factor = 1.1;
  for (const Tolerance& one : tolerances) {
    changes +=
        (changes.empty() ? "" : ",") + std::string(one.key) + "=" + std::to_string(factor) + "x";
    factor = factor > 1.3 ? 1.1 : factor + 0.05;
  }
  expect_back(models::what_if(base, changes), base);
}

// What h200x2 has none of.
TEST(SimCalibrate, WhatVerbsTakeBesidesComesBack) {
  models::Machine machine = models::load_machine("h200x2");
  machine.numbers["put_release_us"] = {1.4, "assumed: test", false};
  machine.numbers["verb_us"] = {0.4, "assumed: test", false};
  machine.numbers["slots_us"] = {0.7, "assumed: test", false};
  machine.numbers["post_us"] = {2.5, "assumed: test", false};
  const auto numbers = calibrate(machine, models::load_machine("h200x2"), 2);
  for (const char* key : {"put_release_us", "verb_us", "slots_us", "post_us", "load_remote_us",
                          "release_us", "flag_us"}) {
    ASSERT_TRUE(numbers.contains(key)) << key;
    EXPECT_NEAR(numbers.at(key).value, machine.number(key), 0.003 * machine.number(key)) << key;
  }
}

// The simulator has one rate for both, and no cost for each block of a launch: what it does not
// know cannot come out of it.
TEST(SimCalibrate, WhatTheSimulatorDoesNotKnowIsNotInvented) {
  const models::Machine machine = models::load_machine("h200x2");
  const auto numbers = calibrate(machine, machine, 2);
  EXPECT_FALSE(numbers.contains("block_us"));
  EXPECT_NEAR(numbers.at("port_oneway_gbps").value, machine.number("port_gbps"), 0.4);
  EXPECT_NEAR(numbers.at("copy_engine_oneway_gbps").value, machine.number("copy_engine_gbps"), 0.4);
}

TEST(SimCalibrate, OnePeHasNoLink) {
  const models::Machine machine = models::load_machine("h200x2");
  const auto numbers = calibrate(machine, machine, 1);
  EXPECT_EQ(numbers.size(), 5U);
  for (const char* key : {"launch_us", "sync_us", "load_local_us", "sm_local_gbps", "hbm_gbps"}) {
    ASSERT_TRUE(numbers.contains(key)) << key;
    EXPECT_NEAR(numbers.at(key).value, machine.number(key), 0.001 * machine.number(key)) << key;
  }
}

}  // namespace
}  // namespace sym::command
