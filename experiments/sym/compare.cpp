// sym compare: how far a simulation is from a measurement, row by row and by size class.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "experiments/sym/commands.hpp"
#include "experiments/sym/measured.hpp"

namespace sym::command {

namespace {

// What two rows of one point have in common; of nccl-tests the size alone.
std::string key_of(const Record& record, bool ours) {
  if (!ours) return record.at("bytes");
  std::string key;
  for (const char* column : {"algorithm", "variant", "pes", "bytes", "dtype", "op"})
    key += record.at(column) + "/";
  // Columns that files of earlier versions lack.
  for (const char* column : {"tokens", "hidden", "experts", "topk", "routing", "splits", "m", "n",
                             "k", "tile", "residual", "concurrent"}) {
    const auto found = record.find(column);
    key += (found == record.end() ? "" : found->second) + "/";
  }
  return key;
}

constexpr double mib = 1024 * 1024;

const char* size_class(double bytes) {
  if (bytes <= 64 * 1024) return "up to 64K";
  if (bytes <= 4 * mib) return "64K to 4M";
  return "over 4M";
}

void print_errors(const std::string& name, std::vector<double> errors) {
  if (errors.empty()) return;
  std::sort(errors.begin(), errors.end());
  const std::size_t half = errors.size() / 2;
  const double median =
      errors.size() % 2 == 1 ? errors[half] : (errors[half - 1] + errors[half]) / 2;
  double logs = 0;
  for (const double error : errors) logs += std::log(std::max(error, 1e-6));
  fmt::print("{:<12} {:>4} points   median {:>6.1f} %   worst {:>6.1f} %   geomean {:>6.1f} %\n",
             name, errors.size(), 100 * median, 100 * errors.back(),
             100 * std::exp(logs / static_cast<double>(errors.size())));
}

// How the simulation calls what it ran.
std::string label_of(const Record& simulated) {
  const auto flavour = simulated.find("flavour");
  return flavour == simulated.end() || flavour->second.empty() ? simulated.at("variant")
                                                               : flavour->second;
}

class Comparison {
 public:
  void add(const Record& measured, const Record& simulated) {
    const double real = number_of(measured, "time_us");
    const double ours = number_of(simulated, "time_us");
    if (real <= 0 || ours <= 0) return;
    const double error = (ours - real) / real;
    if (all_.empty()) {
      fmt::print("{:>11} {:>21} {:>4} {:>12} {:>12} {:>8}\n", "bytes", "variant", "pes",
                 "measured us", "simulated us", "error");
    }
    fmt::print("{:>11} {:>21} {:>4} {:>12.2f} {:>12.2f} {:>+7.1f}%\n", measured.at("bytes"),
               label_of(simulated), simulated.at("pes"), real, ours, 100 * error);
    const double bytes = number_of(measured, "bytes");
    by_class_[size_class(bytes)].push_back(std::abs(error));
    if (bytes >= mib) large_.push_back(std::abs(error));
    all_.push_back(std::abs(error));
  }
  bool empty() const { return all_.empty(); }
  void print() {
    for (const char* name : {"up to 64K", "64K to 4M", "over 4M"})
      print_errors(name, by_class_[name]);
    print_errors("from 1M", large_);
    print_errors("all", all_);
  }

 private:
  std::map<std::string, std::vector<double>> by_class_;
  std::vector<double> large_, all_;
};

}  // namespace

int compare_command(const std::string& measured, const std::string& simulated,
                    const std::vector<std::string>& columns) {
  const Timings real = read_timings(measured, columns);
  const Timings ours = read_timings(simulated, columns);
  std::map<std::string, const Record*> by_key;
  for (const Record& record : ours.records) by_key[key_of(record, real.ours)] = &record;
  Comparison comparison;
  for (const Record& record : real.records) {
    const auto found = by_key.find(key_of(record, real.ours));
    if (found != by_key.end()) comparison.add(record, *found->second);
  }
  if (comparison.empty()) {
    throw UsageError("no row of " + measured + " has a timed row of the same " +
                     (real.ours ? "algorithm, variant, pes, bytes, dtype and op" : "size") +
                     " in " + simulated);
  }
  comparison.print();
  return 0;
}

}  // namespace sym::command
