#include "models/line_fit.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace sym::models {
namespace {

// Sums of the normal equations of two unknowns: residual r, derivatives a and b.
struct Sums {
  double aa = 0, ab = 0, bb = 0, ar = 0, br = 0;

  void add(double a, double b, double r) {
    aa += a * a;
    ab += a * b;
    bb += b * b;
    ar += a * r;
    br += b * r;
  }
  Line solved() const {
    const double determinant = aa * bb - ab * ab;
    return Line{(ar * bb - br * ab) / determinant, (br * aa - ar * ab) / determinant, 0, 0};
  }
};

double log_error(const Line& line, const Timed& point) {
  return std::log((line.at_zero + line.slope * point.x) / point.us);
}

// Infinite where the line is not above 0 everywhere.
double squares(const Line& line, const std::vector<Timed>& points) {
  double sum = 0;
  for (const Timed& point : points) {
    if (line.at_zero + line.slope * point.x <= 0) return HUGE_VAL;
    sum += log_error(line, point) * log_error(line, point);
  }
  return sum;
}

// Where the search starts: each time over itself is 1. With a rising line through the first two
// times in its place where that one dips below 0.
Line first_guess(const std::vector<Timed>& points) {
  Sums sums;
  for (const Timed& point : points) sums.add(1 / point.us, point.x / point.us, 1);
  const Line line = sums.solved();
  if (squares(line, points) < HUGE_VAL) return line;
  double sum = 0;
  for (const Timed& point : points) sum += std::log(point.us);
  return Line{std::exp(sum / static_cast<double>(points.size())), 0, 0, 0};
}

// One step of Gauss and Newton, halved until it leads down. False if none does.
bool improve(Line& line, const std::vector<Timed>& points) {
  Sums sums;
  for (const Timed& point : points) {
    const double model = line.at_zero + line.slope * point.x;
    sums.add(1 / model, point.x / model, -log_error(line, point));
  }
  const Line step = sums.solved();
  const double before = squares(line, points);
  for (double part = 1; part > 1e-6; part /= 2) {
    const Line next{line.at_zero + part * step.at_zero, line.slope + part * step.slope, 0, 0};
    if (squares(next, points) >= before) continue;
    line = next;
    return true;
  }
  return false;
}

}  // namespace

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

Line fit_line(const std::vector<Timed>& points) {
  for (const Timed& point : points) {
    if (!(point.us > 0) || !std::isfinite(point.us))
      throw std::invalid_argument("fit_line: a time is not above 0");
  }
  const auto [low, high] = std::minmax_element(
      points.begin(), points.end(), [](const Timed& a, const Timed& b) { return a.x < b.x; });
  if (low == high || low->x == high->x)
    throw std::invalid_argument("fit_line: a line needs two different x");
  constexpr int most_steps = 50;
  Line line = first_guess(points);
  for (int i = 0; i < most_steps && improve(line, points); ++i) {
  }
  std::vector<double> errors;
  for (const Timed& point : points)
    errors.push_back(100 * std::abs((line.at_zero + line.slope * point.x) / point.us - 1));
  line.median_error_percent = median(errors);
  line.worst_error_percent = *std::max_element(errors.begin(), errors.end());
  return line;
}

}  // namespace sym::models
