#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <deque>
#include <fstream>
#include <thread>

#include "core/debug.hpp"
#include "core/error.hpp"
#include "core/text.hpp"
#include "experiments/sym/backends.hpp"
#include "experiments/sym/commands.hpp"
#include "experiments/sym/dtypes.hpp"
#include "models/bounds.hpp"
#include "models/choose.hpp"

namespace sym::command {

namespace {

// One run of the command: the points, and what has come of them so far.
class Run {
 public:
  Run(const Invocation& invocation, const RunOptions& options)
      : invocation_(invocation),
        options_(options),
        algorithm_(invocation.registry.find(options.algorithm)),
        has_machine_(!options.machine.empty() || options.backend == "cuda"),
        machine_(models::load_machine(options.machine.empty() ? "h200x2" : options.machine)) {
    if (options_.backend == "ibgda") throw Unavailable("ibgda: " + why_unavailable("ibgda"));
    for (const std::string& path : {options_.csv, options_.json}) {
      if (!path.empty() && !std::ofstream(path, std::ios::app))
        throw UsageError("cannot write " + path);
    }
    if (options_.backend == "sim" && options_.machine.empty()) {
      throw UsageError("sim needs a machine: --machine NAME or FILE (sym list shows the names)");
    }
    if (options_.pes.empty()) options_.pes = {options_.backend == "sim" ? machine_.pes() : 2};
    const int most_pes = *std::max_element(options_.pes.begin(), options_.pes.end());
    if (options_.machine.empty() && most_pes > machine_.pes()) {
      // Numbers for `auto` (and, on GPUs, for the bound): one NVLink domain of as many PEs.
      machine_ = models::load_machine("dgx-h200");
      machine_.gpus_per_node = std::max(machine_.gpus_per_node, most_pes);
    }
  }

  int run() {
    if (options_.backend == "cuda") {
      run_cuda();
    } else {
      run_hosts();
    }
    // On GPUs one process of the job, PE 0, has the rows; the others have nothing to say.
    if (rows_.empty()) return status_;
    if (!options_.csv.empty()) write_csv(options_.csv, rows_);
    if (!options_.json.empty()) write_json(options_.json, rows_);
    for (const std::string& note : last_notes_) fmt::print("# {}\n", note);
    if (failed_points_ > 0) fmt::print("# {} of {} points FAILED\n", failed_points_, points_done_);
    return status_;
  }

 private:
  std::string title() const {
    std::string text = "sym run " + options_.algorithm + " on " + options_.backend;
    if (has_machine_) text += ", machine " + machine_name();
    if (options_.backend == "check") text += ", schedule " + options_.schedule;
    return text;
  }

  std::string machine_name() const {
    return machine_.name + (machine_.nodes > 1 ? "*" + std::to_string(machine_.nodes) : "");
  }

  std::vector<std::string> variants(int pes, std::size_t bytes) const {
    if (options_.variant == "all") return algorithm_.variants;
    if (options_.variant != "auto") return {options_.variant};
    const bool known = invocation_.registry.algorithms().front().name == "all_reduce" &&
                       (algorithm_.name == "all_reduce" || algorithm_.name == "all_gather" ||
                        algorithm_.name == "reduce_scatter" || algorithm_.name == "broadcast");
    if (!known) return {algorithm_.variants.front()};
    return {models::choose_variant(machine_, algorithm_.name, pes, static_cast<double>(bytes))};
  }

  Point point_of(int pes, std::size_t bytes, const std::string& variant) const {
    Point point;
    point.algorithm = options_.algorithm;
    point.variant = variant;
    point.dtype = options_.dtype;
    point.op = algorithm_.has_op ? options_.op : "sum";
    point.data = options_.data;
    point.bytes = bytes;
    point.pes = pes;
    point.threads = options_.threads > 0 ? options_.threads : threads_for(bytes);
    const int most = options_.backend == "check" ? 4
                     : options_.backend == "thread"
                         ? 2
                         : static_cast<int>(machine_.number("default_blocks"));
    point.blocks = options_.blocks > 0 ? options_.blocks : blocks_for(bytes, point.threads, most);
    point.iterations = options_.iterations > 0 ? options_.iterations : options_.verify ? 3 : 0;
    point.timed = options_.backend == "thread" || options_.backend == "cuda" ? options_.timed : 0;
    if (options_.backend == "sim") {  // deterministic: one launch says it
      point.iterations = 1;
      point.time_verified = true;
    }
    point.root = options_.root;
    if (point.root >= pes) {
      throw UsageError("--root " + std::to_string(point.root) + " is no rank of " +
                       std::to_string(pes) + " PEs");
    }
    debug_info(fmt::format("{} of {} bytes: variant {}, {} blocks of {} threads", point.algorithm,
                           bytes, variant, point.blocks, point.threads));
    point.graph = options_.graph;
    point.seed = options_.seed;
    parse_inject(point);
    return point;
  }

  void parse_inject(Point& point) const {
    if (options_.inject.empty()) return;
    const std::size_t equals = options_.inject.find('=');
    const std::string what = options_.inject.substr(0, equals);
    if (equals == std::string::npos || (what != "skip" && what != "count")) {
      throw UsageError("--inject '" + options_.inject +
                       "': skip=PE (it leaves out a launch) or count=PE (it comes "
                       "with one element less) can be injected");
    }
    const std::string number = options_.inject.substr(equals + 1);
    int pe = -1;
    const auto [rest, error] = std::from_chars(number.data(), number.data() + number.size(), pe);
    const bool whole = error == std::errc() && rest == number.data() + number.size();
    if (!whole || pe < 0 || pe >= point.pes) {
      throw UsageError("--inject '" + options_.inject + "': PEs are 0 to " +
                       std::to_string(point.pes - 1));
    }
    (what == "skip" ? point.skip_pe : point.shrink_pe) = pe;
  }

  struct Planned {
    Point point;
    bool last;  // of the runs of its point
  };

  std::vector<Planned> plan() const {
    std::vector<Planned> points;
    for (int pes : options_.pes) {
      for (std::size_t bytes : options_.sizes) {
        for (const std::string& variant : variants(pes, bytes)) {
          for (int run = 0; run < options_.runs; ++run) {
            Point point = point_of(pes, bytes, variant);
            point.seed += static_cast<std::uint64_t>(run);
            points.push_back({point, run + 1 == options_.runs});
          }
        }
      }
    }
    return points;
  }

  void run_hosts() {
    const std::vector<Planned> points = plan();
    // Simulated points are processes of their own: as many at a time as there are cores, rows in
    // order.
    const std::size_t ahead =
        options_.backend == "sim" ? std::max(1U, std::thread::hardware_concurrency()) : 1;
    std::deque<std::function<Outcome()>> under_way;
    const auto start = std::chrono::steady_clock::now();
    for (std::size_t next = 0, at = 0; at < points.size(); ++at) {
      for (; next < points.size() && next < at + ahead; ++next)
        under_way.push_back(begin(points[next].point));
      if (std::chrono::steady_clock::now() - start > std::chrono::seconds(2) && isatty(2) != 0) {
        fmt::print(stderr, "\r{} of {} points ", at, points.size());
      }
      const Outcome outcome = under_way.front()();
      under_way.pop_front();
      done(points[at].point, outcome, points[at].last);
    }
  }

  std::function<Outcome()> begin(const Point& point) const {
    if (options_.backend == "sim") return start_on_sim(algorithm_, point, options_, machine_);
    if (options_.backend == "thread")
      return [this, point] { return run_on_thread(algorithm_, point, options_); };
    return [this, point] { return run_on_check(algorithm_, point, options_); };
  }

  void run_cuda() {
    for (int pes : options_.pes) {
      std::vector<Point> points;
      for (std::size_t bytes : options_.sizes) {
        for (const std::string& variant : variants(pes, bytes))
          points.push_back(point_of(pes, bytes, variant));
      }
      const int status = run_on_cuda(
          algorithm_, points, options_,
          [&](const Point& point, const Outcome& outcome) { done(point, outcome, true); });
      status_ = std::max(status_, status);
    }
  }

  // `print`: of many runs of one point only the last is a row, and those that found something.
  void done(const Point& point, const Outcome& outcome, bool print) {
    ++points_done_;
    const bool bad = outcome.result.wrong != 0 || !outcome.findings.empty();
    if (bad) {
      status_ = 1;
      ++failed_points_;
    }
    last_notes_ = outcome.notes;
    if (print || bad) {
      if (rows_.empty()) print_header(stdout, title());
      rows_.push_back(row_of(point, outcome));
      print_row(stdout, rows_.back());
    }
    if (!outcome.result.first_wrong.empty())
      fmt::print("#   WRONG {}\n", outcome.result.first_wrong);
    report(point, outcome);
  }

  void report(const Point& point, const Outcome& outcome) {
    if (outcome.findings.empty()) return;
    std::vector<std::string> texts;
    for (const Finding& finding : outcome.findings) {
      fmt::print("{}\n", finding.text);
      texts.push_back(finding.text);
    }
    if (options_.backend != "check") return;
    const std::string file = write_replay(options_, arguments_of(point), texts);
    fmt::print("  replay {} replay {}\n", invocation_.program, file);
    std::fflush(stdout);
  }

  std::vector<std::string> arguments_of(const Point& point) const {
    std::vector<std::string> arguments{point.algorithm,
                                       "--backend",
                                       "check",
                                       "--pes",
                                       std::to_string(point.pes),
                                       "--bytes",
                                       std::to_string(point.bytes),
                                       "--dtype",
                                       point.dtype,
                                       "--op",
                                       options_.op,
                                       "--variant",
                                       point.variant,
                                       "--blocks",
                                       std::to_string(point.blocks),
                                       "--iterations",
                                       std::to_string(point.iterations),
                                       "--seed",
                                       std::to_string(point.seed),
                                       "--schedule",
                                       options_.schedule,
                                       "--data",
                                       point.data,
                                       "--root",
                                       std::to_string(point.root)};
    if (!options_.inject.empty()) arguments.insert(arguments.end(), {"--inject", options_.inject});
    if (!options_.knobs.empty()) {
      arguments.insert(arguments.end(),
                       {"--knobs", fmt::format("{}", fmt::join(options_.knobs, ","))});
    }
    return arguments;
  }

  Row row_of(const Point& point, const Outcome& outcome) const {
    Row row;
    row.backend = options_.backend;
    row.machine = has_machine_ ? machine_name() : "";
    row.algorithm = point.algorithm;
    row.variant = point.variant;
    row.pes = point.pes;
    row.blocks = point.blocks;
    row.fibres = outcome.fibres;
    // A point that did not come to an end has no result of its own.
    const bool ended = outcome.result.bytes != 0 || point.bytes == 0;
    row.bytes = ended ? outcome.result.bytes : point.bytes;
    row.count = outcome.result.count;
    row.findings = outcome.findings.size();
    row.verified =
        ended && !(options_.no_data && options_.backend == "sim") && point.iterations > 0;
    row.dtype = point.dtype;
    row.op = algorithm_.has_op ? point.op : "-";
    row.graph = point.graph;
    row.seed = point.seed;
    row.time_us = outcome.result.time_us;
    row.wrong = outcome.result.wrong;
    row.hash = options_.no_data && options_.backend == "sim" ? 0 : outcome.result.hash;
    row.baseline = outcome.baseline;
    row.baseline_us = outcome.baseline_us;
    row.baseline_plain_us = outcome.plain_us;
    row.baseline_symmetric_us = outcome.symmetric_us;
    row.baseline_zero_cta_us = outcome.zero_cta_us;
    row.schedule = options_.backend == "check" ? options_.schedule : "";
    if (options_.backend == "sim") {
      row.network = options_.network;
      row.flows = outcome.flows;
      row.window = outcome.window;
    }
    if (row.time_us > 0 && row.bytes > 0) {
      row.algbw_gbps = static_cast<double>(row.bytes) / row.time_us * 1e-3;
      if (algorithm_.has_bound)
        row.busbw_gbps = row.algbw_gbps * models::bus_factor(point.algorithm, point.pes);
    }
    if (has_machine_ && algorithm_.has_bound && point.pes <= machine_.pes()) {
      const models::Bound bound = models::collective_bound(point.algorithm, machine_, point.pes,
                                                           static_cast<double>(row.bytes));
      row.bound_us = bound.us;
      row.bound_by = bound.bound_by;
      if (row.time_us > 0) row.percent_of_bound = 100 * bound.us / row.time_us;
    }
    return row;
  }

  const Invocation& invocation_;
  RunOptions options_;
  const Algorithm& algorithm_;
  bool has_machine_;
  models::Machine machine_;
  std::vector<Row> rows_;
  std::vector<std::string> last_notes_;
  int status_ = 0;
  std::size_t points_done_ = 0;
  std::size_t failed_points_ = 0;
};

}  // namespace

int run_command(const Invocation& invocation, const RunOptions& options) {
  return Run(invocation, options).run();
}

}  // namespace sym::command
