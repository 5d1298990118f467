#include "experiments/sym/measured.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>

#include "core/error.hpp"
#include "experiments/sym/csv_text.hpp"

namespace sym::command {

namespace {

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

void require_columns(const std::vector<std::string>& names, const std::vector<std::string>& needed,
                     const std::string& place) {
  for (const std::string& one : needed) {
    if (!contains(names, one)) {
      throw UsageError(fmt::format(
          "{}: no column '{}'; a CSV of sym run (docs/csv.md), or one with size_bytes and times is "
          "needed",
          place, one));
    }
  }
}

// As sym run names what a table of nccl-tests says.
void adopt(Record& record, const std::vector<std::string>& columns) {
  record["bytes"] = record["size_bytes"];
  record["time_us"].clear();
  double least = 0;
  for (const std::string& column : columns) {
    const double us = number_of(record, column);
    if (us <= 0 || (least > 0 && us >= least)) continue;
    least = us;
    record["time_us"] = record.at(column);
  }
}

}  // namespace

double number_of(const Record& record, const std::string& column) {
  const std::string& text = record.at(column);
  if (text.empty()) return 0;
  double value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || rest != text.data() + text.size()) {
    throw UsageError(column + " '" + text +
                     "' is no number; a CSV of sym run (docs/csv.md) or of nccl-tests is needed");
  }
  return value;
}

Timings read_timings(const std::string& path, const std::vector<std::string>& columns) {
  std::ifstream file(path);
  if (!file) throw UsageError("cannot read " + path);
  Timings timings;
  std::vector<std::string> names;
  int lines = 0;
  while (const auto record = next_csv_record(file, lines)) {
    if (record->starts_with('#')) continue;
    const std::vector<std::string> cells = csv_cells_of(*record);
    const std::string place = fmt::format("{}:{}", path, lines);
    if (names.empty()) {
      names = cells;
      timings.ours = !contains(names, "size_bytes");
      require_columns(names,
                      timings.ours ? std::vector<std::string>{"algorithm", "variant", "pes",
                                                              "bytes", "dtype", "op", "time_us"}
                                   : columns,
                      place);
      continue;
    }
    if (cells.size() != names.size()) {
      throw UsageError(
          fmt::format("{}: {} cells under {} columns", place, cells.size(), names.size()));
    }
    Record row;
    for (std::size_t i = 0; i < names.size(); ++i) row[names[i]] = cells[i];
    if (!timings.ours) adopt(row, columns);
    timings.records.push_back(std::move(row));
  }
  if (names.empty()) require_columns(names, {"algorithm"}, path + ":1");
  return timings;
}

}  // namespace sym::command
