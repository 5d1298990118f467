// A line through times: what made the samples comes back, and how far off they are is said.
#include "models/line_fit.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <stdexcept>

namespace sym::models {
namespace {

std::vector<Timed> samples(double at_zero, double slope, const std::vector<double>& xs) {
  std::vector<Timed> points;
  for (const double x : xs) points.push_back({x, at_zero + slope * x});
  return points;
}

TEST(LineFit, ExactSamplesGiveTheirLine) {
  const Line line = fit_line(samples(2.5, 1.0 / 353e3, {1024, 65536, 1 << 20, 1 << 28}));
  EXPECT_NEAR(line.at_zero, 2.5, 1e-9);
  EXPECT_NEAR(line.slope, 1.0 / 353e3, 1e-15);
  EXPECT_NEAR(line.worst_error_percent, 0, 1e-7);
}

TEST(LineFit, ALineMayBeLevelOrFallOrBeginBelowZero) {
  EXPECT_NEAR(fit_line(samples(0.5, 0, {0, 7, 127})).slope, 0, 1e-12);
  EXPECT_NEAR(fit_line(samples(3, -0.01, {1, 10, 100})).slope, -0.01, 1e-9);
  EXPECT_NEAR(fit_line(samples(-1, 2, {1, 2, 3})).at_zero, -1, 1e-9);
}

// One time in ten is 5 % too long. By squares of microseconds the largest would decide alone; in
// logarithms it is one among ten.
TEST(LineFit, EachTimeCountsByItsRelativeError) {
  std::vector<double> sizes;
  for (double bytes = 1024; sizes.size() < 10; bytes *= 4) sizes.push_back(bytes);
  std::vector<Timed> points = samples(2, 1e-5, sizes);
  points.back().us *= 1.05;
  const Line line = fit_line(points);
  EXPECT_NEAR(line.at_zero, 2, 0.01);
  EXPECT_NEAR(line.slope / 1e-5, 1.0, 0.03);
  EXPECT_GT(line.slope / 1e-5, 1.003);
  EXPECT_GT(line.worst_error_percent, 2);
  EXPECT_LT(line.median_error_percent, 1);
}

TEST(LineFit, NoiseOfAPercentMovesTheLineByNoMore) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> noise(0, 0.01);
  std::vector<Timed> points;
  for (double bytes = 1024; bytes < 3e8; bytes *= 2)
    points.push_back({bytes, (2 + bytes * 1e-5) * std::exp(noise(random))});
  const Line line = fit_line(points);
  EXPECT_NEAR(line.at_zero, 2, 0.02);
  EXPECT_NEAR(line.slope, 1e-5, 1e-7);
  EXPECT_GT(line.median_error_percent, 0.1);
  EXPECT_LT(line.worst_error_percent, 5);
}

TEST(LineFit, RefusesWhatHasNoLine) {
  EXPECT_THROW((void)fit_line({}), std::invalid_argument);
  EXPECT_THROW((void)fit_line({{1, 2}}), std::invalid_argument);
  EXPECT_THROW((void)fit_line({{1, 2}, {1, 3}}), std::invalid_argument);
  EXPECT_THROW((void)fit_line({{1, 2}, {2, 0}}), std::invalid_argument);
  EXPECT_THROW((void)fit_line({{1, 2}, {2, std::nan("")}}), std::invalid_argument);
}

}  // namespace
}  // namespace sym::models
