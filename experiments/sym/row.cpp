#include "experiments/sym/row.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "backends/report/build.hpp"
#include "core/error.hpp"
#include "experiments/sym/csv_text.hpp"

namespace sym::command {

namespace {
std::string number(double value) {
  return value == 0 ? std::string() : fmt::format("{:.6g}", value);
}
std::string whole(double value) {
  return value == 0 ? std::string() : fmt::format("{:.0f}", value);
}
std::string number(std::uint64_t value) {
  return value == 0 ? std::string() : std::to_string(value);
}
}  // namespace

std::vector<std::pair<std::string, std::string>> fields(const Row& row) {
  const Measures& measures = row.measures;
  const bool exchange = row.hidden != 0;  // where a number of 0 tokens is a number
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
          {"version", report::version()},
          {"dispatch_us", number(measures.dispatch_us)},
          {"combine_us", number(measures.combine_us)},
          {"remote_bytes", whole(measures.remote_bytes)},
          {"remote_bytes_max", whole(measures.remote_bytes_max)},
          {"link_percent", number(row.link_percent)},
          {"duplicates", whole(measures.duplicates)},
          {"tokens", exchange ? std::to_string(row.tokens) : std::string()},
          {"hidden", number(static_cast<std::uint64_t>(row.hidden))},
          {"experts", number(static_cast<std::uint64_t>(row.experts))},
          {"topk", number(static_cast<std::uint64_t>(row.topk))},
          {"routing", row.routing},
          {"splits", row.splits},
          {"m", number(static_cast<std::uint64_t>(row.m))},
          {"n", number(static_cast<std::uint64_t>(row.n))},
          {"k", number(static_cast<std::uint64_t>(row.k))},
          {"pure_us", number(measures.pure_us)},
          {"stages_us", number(measures.stages_us)},
          {"tflops", number(row.tflops)},
          {"flavour", row.flavour},
          {"runs", number(static_cast<std::uint64_t>(row.runs))},
          {"p99_us", number(row.p99_us)},
          {"time_low_us", number(row.low_us)},
          {"time_high_us", number(row.high_us)},
          {"tile", row.tile},
          {"residual", row.residual},
          {"concurrent", row.concurrent}};
}

void print_header(std::FILE* out, const std::string& title) {
  fmt::print(out, "# {}\n", title);
  fmt::print(
      out,
      "# {:>10} {:>11} {:>5} {:>5} {:>4} {:>12} {:>10} {:>7} {:>7} {:>6} {:>9} {:>7} {:>5}  {}\n",
      "size", "count", "type", "op", "pes", "variant", "time", "algbw", "busbw", "wrong", "bound",
      "by", "%", "");
  fmt::print(
      out, "# {:>10} {:>11} {:>5} {:>5} {:>4} {:>12} {:>10} {:>7} {:>7} {:>6} {:>9} {:>7} {:>5}\n",
      "(B)", "(elements)", "", "", "", "", "(us)", "(GB/s)", "(GB/s)", "", "(us)", "", "");
}

namespace {

// What the row says beyond the columns of the table.
std::string remarks(const Row& row) {
  std::string text;
  const auto say = [&text](const std::string& part) {
    if (!part.empty()) text += (text.empty() ? "" : " ") + part;
  };
  const Measures& measured = row.measures;
  say(row.flavour);
  if (row.hidden != 0) say(fmt::format("{}x{}", row.tokens, row.hidden));
  say(row.routing);
  say(row.splits);
  say(row.tile);
  if (row.residual == "1") say("with residual");
  if (row.m != 0) say(fmt::format("{}x{}x{}", row.m, row.n, row.k));
  if (row.tflops != 0) say(fmt::format("{:.3g} TFLOPS a GPU", row.tflops));
  const bool halves = measured.dispatch_us != 0;
  const double sending_us = halves ? measured.dispatch_us : row.time_us;
  if (measured.remote_bytes != 0 && row.m == 0 && sending_us != 0) {
    const double gbps = measured.remote_bytes / sending_us * 1e-3;
    say(halves ? fmt::format("dispatch {:.2f} us,", measured.dispatch_us) : std::string());
    say(fmt::format("{:.1f} GB/s to peers", gbps));
    if (row.link_percent != 0) text += fmt::format(" ({:.0f} % of the link)", row.link_percent);
    if (halves) text += fmt::format(", combine {:.2f} us", measured.combine_us);
  }
  if (measured.duplicates != 0) say(fmt::format("{:.0f} copies sent twice", measured.duplicates));
  const double alone_us =
      measured.stages_us == 0 ? measured.pure_us : std::min(measured.pure_us, measured.stages_us);
  if (alone_us != 0) {
    say(fmt::format("product alone {:.2f} stages {:.2f} ({:.1f} % of the time)", measured.pure_us,
                    measured.stages_us, 100 * alone_us / row.time_us));
  }
  if (row.baseline_us != 0) {
    say(fmt::format("NCCL {:.2f}x:", row.baseline_us / row.time_us));
    const auto theirs = [&say](const char* name, double us) {
      if (us != 0) say(fmt::format("{} {:.2f}", name, us));
    };
    theirs("plain", row.baseline_plain_us);
    theirs("symmetric", row.baseline_symmetric_us);
    theirs("zero-CTA", row.baseline_zero_cta_us);
  }
  if (!row.network.empty()) {
    say(fmt::format("g={} W={} flows={} {}", row.fibres, row.window, row.flows, row.network));
  }
  if (row.runs != 0) say(fmt::format("p99 {:.2f} of {} runs", row.p99_us, row.runs));
  if (row.low_us != 0) say(fmt::format("band {:.2f} to {:.2f}", row.low_us, row.high_us));
  if (row.hash != 0) say(fmt::format("hash {:016x}", row.hash));
  return text;
}

}  // namespace

void print_row(std::FILE* out, const Row& row) {
  const auto or_dash = [](double value, int digits) {
    return value == 0 ? std::string("-") : fmt::format("{:.{}f}", value, digits);
  };
  const std::string wrong = row.findings != 0 ? std::string("FAILED")
                            : row.verified    ? std::to_string(row.wrong)
                                              : "-";
  fmt::print(
      out,
      "  {:>10} {:>11} {:>5} {:>5} {:>4} {:>12} {:>10} {:>7} {:>7} {:>6} {:>9} {:>7} {:>5}  {}\n",
      row.bytes, row.count, row.dtype, row.op, row.pes, row.variant, or_dash(row.time_us, 2),
      or_dash(row.algbw_gbps, 2), or_dash(row.busbw_gbps, 2), wrong, or_dash(row.bound_us, 2),
      row.bound_by.empty() ? "-" : row.bound_by, or_dash(row.percent_of_bound, 0), remarks(row));
  std::fflush(out);
}

namespace {
template <class F>
std::string csv_line(const Row& row, F cell) {
  std::string line;
  for (const auto& [name, value] : fields(row)) line += cell(name, value) + ",";
  line.back() = '\n';
  return line;
}
}  // namespace

void CsvFile::add(const Row& row) {
  if (path_.empty()) return;
  if (!file_.is_open()) {
    file_.open(path_);
    file_ << csv_line(Row{}, [](const std::string& name, const auto&) { return name; });
  }
  file_ << csv_line(row, [](const auto&, const std::string& value) { return csv_cell(value); });
  file_.flush();
}

void CsvFile::require_written() const {
  if (!file_) throw UsageError("cannot write " + path_);
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
  if (!file.flush()) throw UsageError("cannot write " + path);
}

}  // namespace sym::command
