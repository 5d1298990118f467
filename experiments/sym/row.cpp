#include "experiments/sym/row.hpp"

#include <fmt/format.h>

#include <cinttypes>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/error.hpp"
#include "experiments/sym/version.hpp"

namespace sym::command {

namespace {
std::string number(double value) {
  return value == 0 ? std::string() : fmt::format("{:.6g}", value);
}
std::string number(std::uint64_t value) {
  return value == 0 ? std::string() : std::to_string(value);
}
}  // namespace

std::vector<std::pair<std::string, std::string>> fields(const Row& row) {
  return {{"backend", row.backend},
          {"machine", row.machine},
          {"algorithm", row.algorithm},
          {"variant", row.variant},
          {"pes", std::to_string(row.pes)},
          {"blocks", std::to_string(row.blocks)},
          {"fibres", number(static_cast<std::uint64_t>(row.fibres))},
          {"bytes", std::to_string(row.bytes)},
          {"count", std::to_string(row.count)},
          {"dtype", row.dtype},
          {"op", row.op},
          {"graph", row.graph ? "1" : "0"},
          {"seed", std::to_string(row.seed)},
          {"time_us", number(row.time_us)},
          {"algbw_gbps", number(row.algbw_gbps)},
          {"busbw_gbps", number(row.busbw_gbps)},
          {"bound_us", number(row.bound_us)},
          {"bound_by", row.bound_by},
          {"percent_of_bound", number(row.percent_of_bound)},
          {"wrong", row.verified ? std::to_string(row.wrong) : std::string()},
          {"findings", std::to_string(row.findings)},
          {"hash", row.hash == 0 ? std::string() : fmt::format("{:016x}", row.hash)},
          {"baseline", row.baseline},
          {"baseline_us", number(row.baseline_us)},
          {"baseline_plain_us", number(row.baseline_plain_us)},
          {"baseline_symmetric_us", number(row.baseline_symmetric_us)},
          {"baseline_zero_cta_us", number(row.baseline_zero_cta_us)},
          {"network", row.network},
          {"flows", number(row.flows)},
          {"window", number(static_cast<std::uint64_t>(row.window))},
          {"schedule", row.schedule},
          {"version", version()}};
}

void print_header(std::FILE* out, const std::string& title) {
  fmt::print(out, "# {}\n", title);
  fmt::print(
      out,
      "# {:>10} {:>11} {:>5} {:>5} {:>4} {:>9} {:>10} {:>7} {:>7} {:>6} {:>9} {:>7} {:>5}  {}\n",
      "size", "count", "type", "op", "pes", "variant", "time", "algbw", "busbw", "wrong", "bound",
      "by", "%", "");
  fmt::print(out,
             "# {:>10} {:>11} {:>5} {:>5} {:>4} {:>9} {:>10} {:>7} {:>7} {:>6} {:>9} {:>7} {:>5}\n",
             "(B)", "(elements)", "", "", "", "", "(us)", "(GB/s)", "(GB/s)", "", "(us)", "", "");
}

void print_row(std::FILE* out, const Row& row) {
  const auto or_dash = [](double value, int digits) {
    return value == 0 ? std::string("-") : fmt::format("{:.{}f}", value, digits);
  };
  const std::string wrong = row.findings != 0 ? std::string("FAILED")
                            : row.verified    ? std::to_string(row.wrong)
                                              : "-";
  std::string more;
  if (row.baseline_us != 0) {
    const auto theirs = [&more](const char* name, double us) {
      if (us != 0) more += fmt::format(" {} {:.2f}", name, us);
    };
    more += fmt::format("NCCL {:.2f}x:", row.baseline_us / row.time_us);
    theirs("plain", row.baseline_plain_us);
    theirs("symmetric", row.baseline_symmetric_us);
    theirs("zero-CTA", row.baseline_zero_cta_us);
  }
  if (!row.network.empty()) {
    more += fmt::format("g={} W={} flows={} {}", row.fibres, row.window, row.flows, row.network);
  }
  if (row.hash != 0) more += fmt::format("{}hash {:016x}", more.empty() ? "" : " ", row.hash);
  fmt::print(
      out,
      "  {:>10} {:>11} {:>5} {:>5} {:>4} {:>9} {:>10} {:>7} {:>7} {:>6} {:>9} {:>7} {:>5}  {}\n",
      row.bytes, row.count, row.dtype, row.op, row.pes, row.variant, or_dash(row.time_us, 2),
      or_dash(row.algbw_gbps, 2), or_dash(row.busbw_gbps, 2), wrong, or_dash(row.bound_us, 2),
      row.bound_by.empty() ? "-" : row.bound_by, or_dash(row.percent_of_bound, 0), more);
  std::fflush(out);
}

void write_csv(const std::string& path, const std::vector<Row>& rows) {
  std::ofstream file(path);
  const char* separator = "";
  for (const auto& [name, value] : fields(Row{})) {
    file << separator << name;
    separator = ",";
  }
  file << "\n";
  for (const Row& row : rows) {
    separator = "";
    for (const auto& [name, value] : fields(row)) {
      file << separator << value;
      separator = ",";
    }
    file << "\n";
  }
  if (!file.flush()) throw Failure("cannot write " + path);
}

void write_json(const std::string& path, const std::vector<Row>& rows) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const Row& row : rows) {
    nlohmann::ordered_json object;
    for (const auto& [name, value] : fields(row)) object[name] = value;
    all.push_back(object);
  }
  std::ofstream file(path);
  file << all.dump(2) << "\n";
  if (!file.flush()) throw Failure("cannot write " + path);
}

}  // namespace sym::command
