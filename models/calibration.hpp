// Calibration: what a machine's numbers rest on that `sym calibrate` has measured: how well they
// fit the samples, and over which sizes and blocks these were taken.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace sym::models {

struct Span {
  std::size_t low = 0, high = 0;
  bool operator==(const Span&) const = default;
};

// Of one number. Errors are relative: of a line, to the times of its samples; of a difference of
// two times, to that difference.
struct FitQuality {
  double median_error_percent = 0, worst_error_percent = 0;
  int samples = 0;
  Span bytes, blocks;  // of those samples
  bool operator==(const FitQuality&) const = default;
};

struct Calibration {
  std::string date;                        // YYYY-MM-DD
  std::string backend;                     // cuda | sim
  std::string device;                      // the GPU and its driver, or what was simulated
  std::string base;                        // the machine that has given what was not measured
  int pes = 1;                             // 1: the numbers of the link are the base's
  std::map<std::string, FitQuality> fits;  // by the number's key
  bool operator==(const Calibration&) const = default;
};

// What of a run lies outside the sizes, blocks and PEs of the calibration, a part each; empty if
// nothing does.
std::vector<std::string> outside(const Calibration& calibration, int pes, std::size_t bytes,
                                 int blocks);

}  // namespace sym::models
