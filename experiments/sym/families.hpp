// Families of algorithms: which options they take, and how options become points and points options
// again. `sym run` asks the Algorithm and knows no family by name.
#pragma once

#include <string>
#include <vector>

#include "core/gemm/schedule.hpp"
#include "experiments/sym/options.hpp"
#include "experiments/sym/point.hpp"
#include "models/machine.hpp"

namespace sym::command {

struct Algorithm;

// What points are made from. One PE count at a time.
struct Planning {
  const Algorithm& algorithm;
  const RunOptions& options;
  const models::Machine& machine;
  int pes = 1;

  // What the points of all families have, for a launch that moves `bytes`.
  Point point(const std::string& variant, std::size_t bytes) const;
  // The variants that were asked for; `chosen` is what `auto` means.
  std::vector<std::string> variants(const std::string& chosen) const;
};

struct Family {
  // Options that it takes beside those that every algorithm takes, as they are typed.
  std::vector<std::string> takes;
  // What --inject can say; PE stands for a number.
  std::vector<std::string> faults;
  // Names that --schedule accepts beside the checker's.
  std::vector<std::string> schedules;
  // In the order in which they run. Throws UsageError for options that do not go together.
  std::vector<Point> (*points)(const Planning&) = nullptr;
  // The options that make this point again, and only this one.
  std::vector<std::string> (*arguments)(const Point&) = nullptr;
  // Options of small shapes that together reach every verb of every variant, the smallest first:
  // what `sym mutate` runs. Empty: as the options' defaults are.
  std::vector<std::vector<std::string>> small{};
  // Whether every PE ends with the same output.
  bool equal_outputs = false;
  // Whether NCCL has something to compare with, besides collectives that have a bound.
  bool has_baseline = false;
  // Whether that is an all-reduce with RMSNorm behind it.
  bool normalises = false;
};

Family collective_family();
Family all_to_all_v_family();
Family moe_family();
Family gemm_family();
Family norm_family();
Family tile_family();

// The options that some families take and others do not.
std::vector<std::string> family_options();

const std::vector<std::string>& routing_names();
const std::vector<std::string>& splits_names();

std::size_t dtype_bytes(const std::string& dtype);

// "2x4"; none if empty. Throws UsageError.
gemm::Grid parse_grid(const std::string& text);
// "128x64". Throws UsageError.
gemm::Grid parse_tile(const std::string& text);

}  // namespace sym::command
