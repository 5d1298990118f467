// sym compare: how far a simulation is from a measurement, row by row and by size class.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

#include "core/error.hpp"
#include "experiments/sym/commands.hpp"

namespace sym::command {

namespace {

using Record = std::map<std::string, std::string>;

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::stringstream stream(line);
  std::string cell;
  while (std::getline(stream, cell, ',')) cells.push_back(cell);
  if (!line.empty() && line.back() == ',') cells.emplace_back();
  return cells;
}

std::vector<Record> read_csv(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw UsageError("cannot read " + path);
  std::string line;
  std::getline(file, line);
  const std::vector<std::string> names = cells_of(line);
  for (const char* needed : {"algorithm", "variant", "pes", "bytes", "dtype", "op", "time_us"}) {
    if (std::find(names.begin(), names.end(), needed) == names.end()) {
      throw UsageError(path + ":1: no column '" + needed +
                       "'; a CSV of sym run is needed (docs/csv.md)");
    }
  }
  std::vector<Record> records;
  for (int number = 2; std::getline(file, line); ++number) {
    const std::vector<std::string> cells = cells_of(line);
    if (cells.size() != names.size()) {
      throw UsageError(fmt::format("{}:{}: {} cells under {} columns", path, number, cells.size(),
                                   names.size()));
    }
    Record record;
    for (std::size_t i = 0; i < names.size(); ++i) record[names[i]] = cells[i];
    records.push_back(std::move(record));
  }
  return records;
}

std::string key_of(const Record& record) {
  std::string key;
  for (const char* column : {"algorithm", "variant", "pes", "bytes", "dtype", "op"})
    key += record.at(column) + "/";
  // Columns that files of earlier versions lack.
  for (const char* column :
       {"tokens", "hidden", "experts", "topk", "routing", "splits", "m", "n", "k"}) {
    const auto found = record.find(column);
    key += (found == record.end() ? "" : found->second) + "/";
  }
  return key;
}

double time_of(const Record& record) {
  const std::string& text = record.at("time_us");
  if (text.empty()) return 0;
  double value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || rest != text.data() + text.size()) {
    throw UsageError("time_us '" + text +
                     "' is no number; a CSV of sym run is needed (docs/csv.md)");
  }
  return value;
}

const char* size_class(double bytes) {
  if (bytes <= 64 * 1024) return "up to 64K";
  if (bytes <= 4 * 1024 * 1024) return "64K to 4M";
  return "over 4M";
}

void print_errors(const std::string& name, std::vector<double> errors) {
  std::sort(errors.begin(), errors.end());
  const std::size_t half = errors.size() / 2;
  const double median =
      errors.size() % 2 == 1 ? errors[half] : (errors[half - 1] + errors[half]) / 2;
  fmt::print("{:<12} {:>4} points   median {:>6.1f} %   worst {:>6.1f} %\n", name, errors.size(),
             100 * median, 100 * errors.back());
}

}  // namespace

int compare_command(const std::string& measured, const std::string& simulated) {
  std::map<std::string, double> simulated_us;
  for (const Record& record : read_csv(simulated)) simulated_us[key_of(record)] = time_of(record);
  std::map<std::string, std::vector<double>> by_class;
  std::vector<double> all;
  for (const Record& record : read_csv(measured)) {
    const auto found = simulated_us.find(key_of(record));
    const double real = time_of(record);
    if (found == simulated_us.end() || real <= 0 || found->second <= 0) continue;
    const double error = (found->second - real) / real;
    if (all.empty()) {
      fmt::print("{:>11} {:>10} {:>4} {:>12} {:>12} {:>8}\n", "bytes", "variant", "pes",
                 "measured us", "simulated us", "error");
    }
    fmt::print("{:>11} {:>10} {:>4} {:>12.2f} {:>12.2f} {:>+7.1f}%\n", record.at("bytes"),
               record.at("variant"), record.at("pes"), real, found->second, 100 * error);
    by_class[size_class(std::stod(record.at("bytes")))].push_back(std::abs(error));
    all.push_back(std::abs(error));
  }
  if (all.empty()) {
    throw UsageError("no row of " + measured +
                     " has a timed row of the same algorithm, variant, pes, bytes, dtype "
                     "and op in " +
                     simulated);
  }
  for (const char* name : {"up to 64K", "64K to 4M", "over 4M"}) {
    if (by_class.count(name) != 0) print_errors(name, by_class[name]);
  }
  print_errors("all", all);
  return 0;
}

}  // namespace sym::command
