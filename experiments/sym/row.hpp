// Row: one line of the table, and of the CSV whose one schema all backends share (docs/csv.md).
#pragma once

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "experiments/sym/point.hpp"

namespace sym::command {

struct Row {
  std::string backend, machine, algorithm, variant;
  int pes = 0, blocks = 0, fibres = 0;
  std::size_t bytes = 0, count = 0;
  std::string dtype, op;
  bool graph = false;
  std::uint64_t seed = 0;
  double time_us = 0;  // 0: not timed
  double algbw_gbps = 0, busbw_gbps = 0;
  double bound_us = 0;
  std::string bound_by;
  double percent_of_bound = 0;
  bool verified = true;  // `wrong` has a meaning
  std::size_t wrong = 0;
  std::size_t findings = 0;  // of the checker, or failed waits
  std::uint64_t hash = 0;
  std::string baseline;  // which of NCCL's own was the fastest
  double baseline_us = 0;
  double baseline_plain_us = 0, baseline_symmetric_us = 0, baseline_zero_cta_us = 0;
  std::string network;
  std::uint64_t flows = 0;
  int window = 0;
  std::string schedule;
  // Columns of some families, empty elsewhere.
  Measures measures;
  double link_percent = 0;
  std::size_t tokens = 0, hidden = 0;
  int experts = 0, topk = 0;
  std::string routing, splits;
  std::size_t m = 0, n = 0, k = 0;
  double tflops = 0;  // of each GPU
  std::string flavour;
  // Of the simulator, where they were asked for.
  int runs = 0;
  double p99_us = 0, low_us = 0, high_us = 0;
  std::string tile, residual;  // of tile_reduce and of all_reduce_rms_norm
  std::string concurrent;      // sim: what ran at the same time
};

// (column, value) in the order of the schema.
std::vector<std::pair<std::string, std::string>> fields(const Row& row);

void print_header(std::FILE* out, const std::string& title);
void print_row(std::FILE* out, const Row& row);

// The CSV of a run. Each row is in the file as soon as it is known, so that a run that is stopped
// leaves those that it had.
class CsvFile {
 public:
  // Empty: there is no file. The first row replaces what the file held.
  explicit CsvFile(std::string path) : path_(std::move(path)) {}
  void add(const Row& row);
  // Throws UsageError if something could not be written.
  void require_written() const;

 private:
  std::string path_;
  std::ofstream file_;
};
// Throws UsageError if the file cannot be written.
void write_json(const std::string& path, const std::vector<Row>& rows);

}  // namespace sym::command
