#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <fstream>
#include <thread>

#include "core/error.hpp"
#include "experiments/sym/backends.hpp"
#include "experiments/sym/commands.hpp"
#include "experiments/sym/row_of.hpp"

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

  struct Planned {
    Point point;
    bool last;  // of the runs of its point
  };

  // All points before the first runs, so that options that do not go together are refused at once.
  std::vector<Planned> plan() const {
    std::vector<Planned> planned;
    for (int pes : options_.pes) {
      const std::vector<Point> points =
          algorithm_.family.points(Planning{algorithm_, options_, machine_, pes});
      for (const Point& point : points) {
        for (int run = 0; run < options_.runs; ++run) {
          planned.push_back({point, run + 1 == options_.runs});
          planned.back().point.seed += static_cast<std::uint64_t>(run);
        }
      }
    }
    return planned;
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

  // One world for each PE count.
  void run_cuda() {
    const std::vector<Planned> all = plan();
    for (std::size_t first = 0; first < all.size();) {
      std::vector<Point> points;
      for (; first < all.size() && (points.empty() || all[first].point.pes == points[0].pes);
           ++first)
        points.push_back(all[first].point);
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
      rows_.push_back(row_of(algorithm_, point, outcome, options_));
      add_rates(rows_.back(), algorithm_, point, has_machine_ ? &machine_ : nullptr);
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
    const std::string file =
        write_replay(options_, replay_arguments(algorithm_, point, options_), texts);
    fmt::print("  replay {} replay {}\n", invocation_.program, file);
    std::fflush(stdout);
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
