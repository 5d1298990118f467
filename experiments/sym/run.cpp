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
#include "experiments/sym/flavour.hpp"
#include "experiments/sym/host_memory.hpp"
#include "experiments/sym/option_uses.hpp"
#include "experiments/sym/reporter.hpp"
#include "models/what_if.hpp"

namespace sym::command {

namespace {

// One run of the command: the points, and what has come of them so far.
class Run {
 public:
  Run(const Invocation& invocation, const RunOptions& options, CsvFile& csv)
      : options_(options),
        registry_(invocation.registry),
        algorithm_(invocation.registry.find(options.algorithm)),
        has_machine_(!options.machine.empty() || options.backend == "cuda"),
        machine_(models::what_if(
            models::load_machine(options.machine.empty() ? "h200x2" : options.machine),
            options.what_if)),
        reporter_(invocation, options_, algorithm_, has_machine_ ? &machine_ : nullptr, csv) {
    if (options_.backend == "ibgda") throw Unavailable("ibgda: " + why_unavailable("ibgda"));
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

  // The files get the rows of `all` too: of the machines before this one.
  int run(std::vector<Row>& all) {
    if (options_.backend == "cuda") {
      run_cuda();
    } else {
      run_hosts();
    }
    return std::max(status_, reporter_.finish(all));
  }

 private:
  // All points before the first runs, so that options that do not go together are refused at once.
  std::vector<Point> plan() const {
    std::vector<Point> planned;
    for (int pes : options_.pes) {
      const std::vector<Point> points =
          algorithm_.family.points(Planning{algorithm_, options_, machine_, pes});
      planned.insert(planned.end(), points.begin(), points.end());
    }
    require_uses_of_points(options_, algorithm_, planned);
    if (options_.backend == "check" || options_.backend == "thread") {
      for (const Point& point : planned) require_memory(point);
    }
    return planned;
  }
  // Each PE's data at least once: pages that are not there are missed when they are touched, which
  // ends in minutes of nothing, or the process.
  static void require_memory(const Point& point) {
    const double wanted =
        point.pes * static_cast<double>(std::max(point.bytes, point.heap_bytes)) / gib;
    const double available = available_gib();
    if (wanted > available) {
      throw Unavailable(
          fmt::format("the data of {} PEs take {:.0f} GiB at least, and {:.0f} are available here; "
                      "sim --no-data "
                      "needs none",
                      point.pes, wanted, available));
    }
  }

  void run_hosts() {
    const std::vector<Point> points = plan();
    const auto runs = static_cast<std::size_t>(options_.runs);
    const std::size_t all = points.size() * runs;
    const auto point_of = [&](std::size_t at) {
      Point point = points[at / runs];
      point.seed += at % runs;
      return point;
    };
    if (!options_.sim.trace.empty() && all > 1)
      throw UsageError("--trace is of one point: one size, one variant and one number of PEs");
    // Simulated points are processes of their own: as many at a time as there are cores, rows in
    // order.
    const std::size_t ahead =
        options_.backend == "sim" ? std::max(1U, std::thread::hardware_concurrency()) : 1;
    std::deque<std::function<Outcome()>> under_way;
    const auto start = std::chrono::steady_clock::now();
    for (std::size_t next = 0, at = 0; at < all; ++at) {
      for (; next < all && next < at + ahead; ++next) under_way.push_back(begin(point_of(next)));
      if (std::chrono::steady_clock::now() - start > std::chrono::seconds(2) && isatty(2) != 0) {
        fmt::print(stderr, "\r{} of {} points ", at, all);
      }
      const Outcome outcome = under_way.front()();
      under_way.pop_front();
      // A run of pct needs to know how long one is; those after the first need not find out again.
      const bool last = (at + 1) % runs == 0;
      options_.pct_steps = last ? 0 : outcome.checked.pct_steps;
      reporter_.done(point_of(at), outcome, last);
    }
  }

  std::function<Outcome()> begin(const Point& point) const {
    if (options_.backend == "sim")
      return start_on_sim(algorithm_, point, options_, flavoured(machine_, point),
                          companion_of(registry_, options_, machine_, point));
    if (options_.backend == "thread")
      return [this, point] { return run_on_thread(algorithm_, point, options_); };
    return [this, point] { return run_on_check(algorithm_, point, options_); };
  }

  // One world for each PE count.
  void run_cuda() {
    const std::vector<Point> all = plan();
    for (std::size_t first = 0; first < all.size();) {
      std::vector<Point> points;
      for (; first < all.size() && (points.empty() || all[first].pes == points[0].pes); ++first)
        points.push_back(all[first]);
      const int status = run_on_cuda(algorithm_, points, options_,
                                     [&](const Point& point, const Outcome& outcome) {
                                       reporter_.done(point, outcome, true);
                                     });
      status_ = std::max(status_, status);
    }
  }

  RunOptions options_;
  const Registry& registry_;
  const Algorithm& algorithm_;
  bool has_machine_;
  models::Machine machine_;
  Reporter reporter_;
  int status_ = 0;
};

}  // namespace

int run_command(const Invocation& invocation, const RunOptions& options) {
  std::vector<Row> all;
  CsvFile csv(options.csv);
  if (options.backend != "sim" || options.machine.empty())
    return Run(invocation, options, csv).run(all);
  int status = 0;
  RunOptions one = options;
  for (const std::string& machine : models::machine_list(options.machine)) {
    one.machine = machine;
    status = std::max(status, Run(invocation, one, csv).run(all));
  }
  return status;
}

}  // namespace sym::command
