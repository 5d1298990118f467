// The points of the distributed product. Its variant is the schedule.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/error.hpp"
#include "core/gemm/instances.hpp"
#include "experiments/sym/families.hpp"
#include "experiments/sym/registry.hpp"

namespace sym::command {

gemm::Grid parse_grid(const std::string& text) {
  gemm::Grid grid;
  if (text.empty()) return grid;
  const char* end = text.data() + text.size();
  auto [at, error] = std::from_chars(text.data(), end, grid.rows);
  bool whole = error == std::errc() && at != end && *at == 'x';
  if (whole) {
    const auto [last, second] = std::from_chars(at + 1, end, grid.cols);
    whole = second == std::errc() && last == end;
  }
  if (!whole || grid.rows < 1 || grid.cols < 1) {
    throw UsageError(fmt::format("--grid '{}' is no grid; write ROWSxCOLUMNS, as 2x4", text));
  }
  return grid;
}

namespace {

void require_gemm(const Planning& planning) {
  const RunOptions& o = planning.options;
  for (const auto& [name, value] : {std::pair{"--m", o.m}, {"--n", o.n}, {"--k", o.k}}) {
    if (value == 0)
      throw UsageError(std::string(name) + " 0: every size of a product is at least 1");
  }
  if (o.max_buffers < 0 || o.max_buffers == 1) {
    throw UsageError(fmt::format(
        "--max-buffers {}: at least 2 are needed, one that is read and one that fills (0: as many "
        "as the schedule likes)",
        o.max_buffers));
  }
  // Values of the test data are small integers, so that every partial sum is exact.
  if (o.beta != std::floor(o.beta) || std::abs(o.beta) > 8) {
    throw UsageError(fmt::format(
        "--beta {}: a whole number from -8 to 8 is needed, or sums would not be exact", o.beta));
  }
}

// Fewer calls in a row where one of them is long anyway.
void limit_timing(Point& point, const models::Machine& machine) {
  const double flop_per_us = machine.number("gemm_tflops_bf16") * 1e6;
  constexpr double enough_us = 2e4;
  const GemmPoint& g = point.gemm;
  const double call_us = 2.0 * static_cast<double>(g.m) * static_cast<double>(g.n) *
                         static_cast<double>(g.k) / point.pes / flop_per_us;
  const double calls = std::max(1.0, enough_us / std::max(call_us, 1e-3));
  point.timed = static_cast<int>(std::min<double>(point.timed, calls));
  point.replays = static_cast<int>(std::clamp(5 * calls / std::max(point.timed, 1), 2.0, 10.0));
}

// Host backends keep all operands of all PEs in this machine's memory.
void require_memory(std::size_t bytes) {
  const auto here = static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) *
                    static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  if (bytes <= here) return;
  throw Unavailable(
      fmt::format("gemm: operands and partial sums of {} GB in a machine of {} GB; sim with "
                  "--no-data needs no memory for them",
                  bytes >> 30, here >> 30));
}

std::vector<Point> gemm_points(const Planning& planning) {
  const RunOptions& options = planning.options;
  require_gemm(planning);
  std::vector<std::string> schedules = options.gemm_schedules;
  if (schedules.empty()) {
    schedules =
        options.backend == "check" ? planning.algorithm.variants : std::vector<std::string>{"ag_a"};
  }
  const std::size_t elements =
      options.m * options.k + options.n * options.k + options.m * options.n;
  const gemm::Grid grid = parse_grid(options.grid);
  std::vector<Point> points;
  for (const std::string& schedule : schedules) {
    gemm::find_schedule(schedule).make(planning.pes, grid);  // refuses a grid that does not fit
    Point point = planning.point(schedule, elements * dtype_bytes(options.dtype));
    point.blocks = 1;  // of no launch: the queues' operations choose their own
    point.gemm.m = options.m;
    point.gemm.n = options.n;
    point.gemm.k = options.k;
    point.gemm.grid_rows = grid.rows;
    point.gemm.grid_cols = grid.cols;
    point.gemm.beta = options.beta;
    point.gemm.bias = options.bias;
    point.gemm.max_buffers = options.max_buffers;
    point.gemm.with_reference = options.backend == "cuda";
    const bool holds_data = options.backend == "check" || options.backend == "thread" ||
                            (options.backend == "sim" && !options.no_data);
    if (holds_data) require_memory(2 * point.bytes);
    // The operands, what is handed on, and those of the reference on one GPU.
    point.heap_bytes = 3 * point.bytes;
    limit_timing(point, planning.machine);
    points.push_back(point);
  }
  return points;
}

std::vector<std::string> gemm_arguments(const Point& point) {
  const GemmPoint& g = point.gemm;
  std::vector<std::string> arguments{"--m", std::to_string(g.m), "--n", std::to_string(g.n),
                                     "--k", std::to_string(g.k)};
  if (g.grid_rows != 0) {
    arguments.insert(arguments.end(), {"--grid", fmt::format("{}x{}", g.grid_rows, g.grid_cols)});
  }
  if (g.beta != 0) arguments.insert(arguments.end(), {"--beta", fmt::format("{}", g.beta)});
  if (g.bias) arguments.emplace_back("--bias");
  if (g.max_buffers != 0) {
    arguments.insert(arguments.end(), {"--max-buffers", std::to_string(g.max_buffers)});
  }
  return arguments;
}

}  // namespace

Family gemm_family() {
  Family family;
  family.takes = {"--m", "--n", "--k", "--grid", "--beta", "--bias", "--max-buffers"};
  family.faults = {"skip=PE"};
  const std::vector<std::string> product{"--m", "24", "--n", "20", "--k", "16"};
  const auto with = [&product](std::vector<std::string> more) {
    more.insert(more.end(), product.begin(), product.end());
    return more;
  };
  family.small = {product, with({"--max-buffers", "2", "--beta", "2", "--bias"})};
  family.points = gemm_points;
  family.arguments = gemm_arguments;
  family.has_baseline = true;
  return family;
}

}  // namespace sym::command
