// CSV files with times: of sym run, and tables of nccl-tests.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace sym::command {

// One row, by column.
using Record = std::map<std::string, std::string>;

struct Timings {
  std::vector<Record> records;
  bool ours = true;  // else of nccl-tests: its rows say a size, and no algorithm
};

// A CSV of sym run; or one with a column size_bytes, whose lines with # are skipped: its time_us is
// then that of `columns`, the least of them that a row has. Throws UsageError with file and line.
Timings read_timings(const std::string& path, const std::vector<std::string>& columns);

// A number above 0, or 0 for an empty cell. Throws UsageError.
double number_of(const Record& record, const std::string& column);

}  // namespace sym::command
