// Numbers from samples: with times that are made from known constants, those come back; and a
// calibrated machine says which of its numbers were not measured, and survives its JSON.
#include "models/calibrate.hpp"

#include <cmath>
#include <random>

#include "tests/unit/machine_checks.hpp"

namespace sym::models {
namespace {

// The constants that the times below are made of. None is as on h200x2.
struct Truth {
  double launch = 0.6, block = 0.002, ramp = 1.1, sync = 0.04, local = 0.3, remote = 1.2;
  double flag = 0.9, release = 0.7, turn = 0.02, early = 0.5, pass = 0.45;
  double write = 40, read = 42, reduce = 21, sm_local = 80, hbm = 3000;
  double port = 300, oneway = 330, port_read = 280;
  double copy = 340, copy_oneway = 360, copy_start = 2.5, copy_turn = 9;
  double put_release = 1.3, verb = 0.35, slots = 0.8, post = 3;
};

double us_of(double bytes, double gbps) { return bytes / (gbps * 1e3); }

// What a machine with these constants would take, as sim/time_policy.hpp says.
double time_us(const Truth& t, const Sample& s, double pass_bytes) {
  const auto n = static_cast<double>(s.bytes);
  const double start = t.launch + t.block * (s.blocks - 1) + t.ramp;
  const double seen = t.local + t.sync;
  const double meeting = t.local + t.release + t.flag + t.turn * (s.blocks - 1) + seen;
  const auto moved = [&](double passes, double of_a_block, double port) {
    return start + t.local + us_of(passes * n, std::min(of_a_block * s.blocks, port));
  };
  switch (s.probe) {
    case Probe::launch:
      return start - t.ramp;
    case Probe::sync:
      return start + s.rounds * t.sync;
    case Probe::load:
      return start + s.rounds * t.local;
    case Probe::slots:
      return start + s.rounds * (t.local + t.verb + t.slots + us_of(3 * n, t.sm_local));
    case Probe::packets:
      return start + s.rounds * (t.local + t.flag + seen) + t.sync;
    case Probe::exchange:
      return start + t.local + t.flag + seen + us_of(4.0 / 3 * n, t.write) +
             us_of((4.0 / 3 + 2) * n, t.sm_local) + t.pass * std::ceil(n / pass_bytes);
    case Probe::meet:
      return start + s.rounds * meeting + t.sync;
    case Probe::meet_early:
      return start - t.early + s.rounds * meeting + t.sync;
    case Probe::meet_local:
      return start + 2 * meeting + t.local + t.verb + us_of(2 * n, t.sm_local) + t.sync;
    case Probe::meet_put:
      return start + 2 * meeting + t.local + t.verb + t.put_release - t.release + 2 * t.sync +
             us_of(n, t.write);
    case Probe::meet_reduce:
      return start + 2 * meeting + t.remote + t.verb + us_of(n, t.reduce) + t.sync;
    case Probe::put_one:
      return moved(1, t.write, t.oneway);
    case Probe::put_both:
      return moved(1, t.write, t.port) + 2;
    case Probe::get_one:
      return moved(1, t.read, t.oneway);
    case Probe::reduce_one:
    case Probe::reduce_both:
      return moved(1, t.reduce, t.port_read);
    case Probe::local_copy:
      return moved(2, t.sm_local, t.hbm);
    case Probe::copy_one:
      return t.copy_start + us_of(n, t.copy_oneway);
    case Probe::copy_both:
      return t.copy_start + us_of(n, t.copy);
    case Probe::launch_copy:
      return t.launch + t.copy_turn + t.copy_start + us_of(n, t.copy_oneway);
    case Probe::copy_flag:
      return t.launch + t.copy_turn + t.copy_start + us_of(n, t.copy) + t.post + t.flag + t.local;
  }
  return 0;
}

std::map<std::string, double> wanted(const Truth& t) {
  return {{"launch_us", t.launch},
          {"block_us", t.block},
          {"ramp_us", t.ramp},
          {"sync_us", t.sync},
          {"load_local_us", t.local},
          {"load_remote_us", t.remote},
          {"flag_us", t.flag},
          {"release_us", t.release},
          {"put_release_us", t.put_release},
          {"verb_us", t.verb},
          {"post_us", t.post},
          {"slots_us", t.slots},
          {"flag_turn_us", t.turn},
          {"early_us", t.early},
          {"packet_pass_us", t.pass},
          {"sm_write_gbps", t.write},
          {"sm_read_gbps", t.read},
          {"sm_reduce_gbps", t.reduce},
          {"sm_local_gbps", t.sm_local},
          {"hbm_gbps", t.hbm},
          {"port_gbps", t.port},
          {"port_oneway_gbps", t.oneway},
          {"port_read_gbps", t.port_read},
          {"copy_engine_gbps", t.copy},
          {"copy_engine_oneway_gbps", t.copy_oneway},
          {"copy_engine_start_us", t.copy_start},
          {"copy_engine_turn_us", t.copy_turn}};
}

const Machine& base() {
  static const Machine one = load_machine("h200x2");
  return one;
}

// `noise`: the relative deviation of each time.
std::vector<Sample> made(const Truth& truth, int pes, double noise = 0) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> draw(0, 1);
  std::vector<Sample> samples = calibration_tests(base(), pes, 132);
  for (Sample& one : samples) {
    one.us =
        time_us(truth, one, base().number("packet_pass_bytes")) * std::exp(noise * draw(random));
  }
  return samples;
}

TEST(Calibrate, TheConstantsThatMadeTheTimesComeBack) {
  const auto numbers = fit_numbers(made(Truth{}, 2), base());
  const auto all = wanted(Truth{});
  EXPECT_EQ(numbers.size(), all.size());
  for (const auto& [key, value] : all) {
    ASSERT_TRUE(numbers.contains(key)) << key;
    EXPECT_NEAR(numbers.at(key).value, value, 0.005 * value) << key;
    EXPECT_LT(numbers.at(key).quality.worst_error_percent, 1) << key;
  }
  // 16 bytes more are the only thing beside the pass.
  EXPECT_NEAR(numbers.at("packet_pass_us").value, Truth{}.pass, 0.001);
}

// Rates come from many samples. What is a difference of two times has the noise of both.
TEST(Calibrate, NoiseOfAPercentLeavesRatesWithinTwo) {
  const auto numbers = fit_numbers(made(Truth{}, 2, 0.01), base());
  for (const auto& [key, value] : wanted(Truth{})) {
    if (!key.ends_with("_gbps")) continue;
    ASSERT_TRUE(numbers.contains(key)) << key;
    EXPECT_NEAR(numbers.at(key).value, value, 0.02 * value) << key;
    EXPECT_GT(numbers.at(key).quality.median_error_percent, 0) << key;
  }
  EXPECT_NEAR(numbers.at("flag_us").value, Truth{}.flag, 0.05);
  EXPECT_NEAR(numbers.at("release_us").value, Truth{}.release, 0.1);
}

TEST(Calibrate, QualitySaysSizesAndBlocksOfItsSamples) {
  const auto numbers = fit_numbers(made(Truth{}, 2), base());
  EXPECT_EQ(numbers.at("sm_write_gbps").quality.bytes, (Span{1 << 14, 1 << 26}));
  EXPECT_EQ(numbers.at("sm_write_gbps").quality.blocks, (Span{1, 1}));
  EXPECT_EQ(numbers.at("port_gbps").quality.bytes, (Span{1 << 18, 1 << 28}));
  EXPECT_EQ(numbers.at("launch_us").quality.blocks, (Span{1, 132}));
  EXPECT_EQ(numbers.at("port_gbps").quality.samples, 7);
}

TEST(Calibrate, WhatTheSamplesDoNotShowIsLeftOut) {
  Truth truth;
  truth.block = truth.turn = truth.early = truth.pass = 0;
  const auto numbers = fit_numbers(made(truth, 2), base());
  for (const char* key : {"block_us", "flag_turn_us", "early_us"})
    EXPECT_FALSE(numbers.contains(key)) << key;
  const auto local = fit_numbers(made(truth, 1), base());
  EXPECT_TRUE(local.contains("sm_local_gbps"));
  EXPECT_FALSE(local.contains("port_gbps"));
  EXPECT_TRUE(fit_numbers({}, base()).empty());
}

// A slope that is less than the noise is none.
TEST(Calibrate, WhatBlocksAddMustBeMoreThanTheError) {
  Truth truth;
  truth.block = truth.turn = 0;
  int seen = 0;
  for (const double noise : {0.003, 0.01, 0.03}) {
    const auto numbers = fit_numbers(made(truth, 2, noise), base());
    seen += numbers.contains("block_us") ? 1 : 0;
    seen += numbers.contains("flag_turn_us") ? 1 : 0;
  }
  EXPECT_EQ(seen, 0);
  const auto numbers = fit_numbers(made(Truth{}, 2, 0.01), base());
  EXPECT_NEAR(numbers.at("block_us").value, Truth{}.block, 0.0002);
  EXPECT_NEAR(numbers.at("flag_turn_us").value, Truth{}.turn, 0.002);
}

TEST(Calibrate, FewerProcessorsBoundTheBlocks) {
  for (const Sample& test : calibration_tests(base(), 2, 20)) EXPECT_LE(test.blocks, 20);
  const std::string csv = samples_csv(made(Truth{}, 1));
  EXPECT_EQ(csv.rfind("probe,bytes,blocks,rounds,us\nlaunch,0,1,1,0.6\n", 0), 0U) << csv;
}

const Calibration& about() {
  static const Calibration one{"2026-11-30", "cuda", "NVIDIA H200, driver 580", "h200x2", 2, {}};
  return one;
}
Machine machine() {
  return calibrated(base(), fit_numbers(made(Truth{}, 2), base()), about(), "mine");
}

TEST(Calibrate, EveryNumberSaysWhetherItWasMeasured) {
  const Machine mine = machine();
  EXPECT_EQ(mine.name, "mine");
  EXPECT_EQ(mine.numbers.at("flag_us"),
            (Quantity{0.9, "sym calibrate, 2026-11-30, NVIDIA H200, driver 580", true}));
  const Quantity& piece = mine.numbers.at("piece_us");
  EXPECT_EQ(piece.value, base().number("piece_us"));
  EXPECT_TRUE(piece.measured);
  EXPECT_TRUE(piece.source.starts_with("as h200x2, not calibrated: first run of")) << piece.source;
  const Quantity& sms = mine.numbers.at("sms");
  EXPECT_FALSE(sms.measured);
  EXPECT_EQ(sms.source, "assumed: as h200x2, not calibrated: H200 data sheet");
  EXPECT_FALSE(mine.calibration->fits.contains("sms"));
}

TEST(Calibrate, ASimulationMeasuresNothing) {
  Calibration of_sim = about();
  of_sim.backend = "sim";
  const Machine mine = calibrated(base(), fit_numbers(made(Truth{}, 2), base()), of_sim, "mine");
  EXPECT_FALSE(mine.numbers.at("flag_us").measured);
  EXPECT_TRUE(mine.numbers.at("flag_us").source.starts_with("assumed: sym calibrate, "));
}

TEST(Calibrate, TheJsonFormComesBack) {
  const Machine mine = machine();
  const std::string text = to_json(mine);
  const Machine again = parse_machine_json(text, "mine.json");
  expect_equal(again, mine);
  ASSERT_TRUE(again.calibration);
  EXPECT_EQ(*again.calibration, *mine.calibration);
  EXPECT_EQ(to_json(again), text);
  EXPECT_TRUE(contains(to_text(mine), "calibration: 2026-11-30, cuda, NVIDIA H200, driver 580"));
}

// The text of machine() with one part of its calibration changed, as it is refused.
std::string refused(const std::string& from, const std::string& to) {
  std::string text = to_json(machine());
  const std::size_t at = text.find(from, text.find("\"calibration\""));
  if (at == std::string::npos) return "no " + from;
  text.replace(at, from.size(), to);
  return refusal([&] { (void)parse_machine_json(text, "mine.json"); });
}

TEST(Calibrate, BadCalibrationsAreRefused) {
  EXPECT_TRUE(contains(refused("\"backend\": \"cuda\"", "\"backend\": \"cud\""), "\"cuda\""));
  EXPECT_TRUE(contains(refused("\"pes\": 2", "\"pes\": 0"), "pes"));
  EXPECT_TRUE(contains(refused("\"date\"", "\"dat\""), "'date'"));
  EXPECT_TRUE(contains(refused("\"flag_us\"", "\"flags_us\""), "flag_us"));
  EXPECT_TRUE(contains(refused("\"samples\": ", "\"samples\": -"), "samples"));
  EXPECT_TRUE(contains(refused("\"worst_error_percent\": ", "\"worst_error_percent\": -"),
                       "worst_error_percent"));
  EXPECT_TRUE(contains(refused("\"median_error_percent\": ", "\"median_error_percent\": 7"),
                       "is below the median"));
  EXPECT_TRUE(contains(refused("\"bytes\": [", "\"bytes\": [5,"), "bytes"));
}

TEST(Calibrate, ARunOutsideSaysHow) {
  const Calibration calibration = *machine().calibration;
  EXPECT_TRUE(outside(calibration, 2, 1 << 20, 32).empty());
  EXPECT_TRUE(outside(calibration, 2, std::size_t{1} << 28, 132).empty());
  EXPECT_TRUE(outside(calibration, 2, 0, 1).empty());
  using Parts = std::vector<std::string>;
  EXPECT_EQ(outside(calibration, 2, std::size_t{1} << 30, 32),
            Parts{"bytes 1073741824 (at most 268435456)"});
  EXPECT_EQ(outside(calibration, 2, 8, 1), Parts{"bytes 8 (at least 16)"});
  EXPECT_EQ(outside(calibration, 4, 1024, 133),
            (Parts{"blocks 133 (at most 132)", "PEs 4 (at most 2)"}));
}

}  // namespace
}  // namespace sym::models
