// fit_line: a straight line through measured times.
#pragma once

#include <vector>

namespace sym::models {

struct Timed {
  double x = 0;
  double us = 0;  // above 0
};

struct Line {
  double at_zero = 0, slope = 0;
  double median_error_percent = 0, worst_error_percent = 0;  // of the times
};

// Least squares of log(at_zero + slope x) - log(us): a microsecond of a short time counts as much
// as a millisecond of a long one. Needs two different x; throws std::invalid_argument otherwise,
// and for times that are not above 0.
Line fit_line(const std::vector<Timed>& points);

// The middle one; of an even number the higher of the two. Requires values.
double median(std::vector<double> values);

}  // namespace sym::models
