#include "experiments/sym/row_of.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "models/bounds.hpp"
#include "models/multicast.hpp"

namespace sym::command {

namespace {

void add_families(Row& row, const Point& point, const Measures& measures) {
  row.measures = measures;
  row.tokens = point.moe.tokens;
  row.hidden = point.moe.hidden;
  row.experts = point.moe.experts;
  row.topk = point.moe.topk;
  row.routing = point.moe.routing;
  row.splits = point.moe.splits;
  row.m = point.gemm.m;
  row.n = point.gemm.n;
  row.k = point.gemm.k;
  const TilePoint& t = point.tile;
  if (t.rows != 0) row.tile = fmt::format("{}x{}/{}x{}", t.rows, t.cols, t.tile_rows, t.tile_cols);
}

void add_baseline(Row& row, const Outcome& outcome) {
  row.baseline = outcome.baseline;
  row.baseline_us = outcome.baseline_us;
  row.baseline_plain_us = outcome.plain_us;
  row.baseline_symmetric_us = outcome.symmetric_us;
  row.baseline_zero_cta_us = outcome.zero_cta_us;
}

// Percent of the time of a dispatch (or of `time_us`, where there is none) that the busiest link
// needs for its bytes alone.
double link_percent(const Measures& measures, double time_us, const models::Machine& machine) {
  if (measures.dispatch_us > 0) time_us = measures.dispatch_us;
  if (time_us <= 0 || measures.link_bytes_max + measures.nic_bytes_max <= 0) return 0;
  double us = measures.link_bytes_max / (machine.number("port_gbps") * 1e3);
  if (measures.nic_bytes_max > 0)
    us = std::max(us, measures.nic_bytes_max / (machine.number("nic_gbps") * 1e3));
  return 100 * us / time_us;
}

}  // namespace

Row row_of(const Algorithm& algorithm, const Point& point, const Outcome& outcome,
           const RunOptions& options) {
  const bool without_data = options.backend == "sim" && !outcome.simulated.data;
  Row row;
  row.backend = options.backend;
  row.algorithm = point.algorithm;
  row.variant = point.variant;
  row.pes = point.pes;
  row.blocks = point.blocks;
  row.fibres = outcome.fibres;
  // A point that did not come to an end has no result of its own.
  const bool stopped = !outcome.findings.empty() || !outcome.checked.incomplete.empty();
  const bool ended = outcome.result.bytes != 0 || point.bytes == 0 || !stopped;
  row.bytes = ended ? outcome.result.bytes : point.bytes;
  row.count = outcome.result.count;
  row.findings = outcome.findings.size();
  row.verified = ended && outcome.result.failure.empty() && !without_data && point.iterations > 0;
  row.flavour = point.flavour;
  row.dtype = point.dtype;
  row.op = algorithm.has_op ? point.op : "-";
  row.graph = point.graph;
  row.seed = point.seed;
  row.time_us = outcome.result.time_us;
  row.wrong = outcome.result.wrong;
  row.hash = without_data ? 0 : outcome.result.hash;
  row.schedule = options.backend == "check" ? options.schedule : "";
  if (options.backend == "sim") {
    row.network = outcome.simulated.network;
    row.flows = outcome.flows;
    row.window = outcome.window;
    row.concurrent = options.sim.concurrent;
    row.runs = outcome.simulated.runs;
    row.p99_us = outcome.simulated.p99_us;
    row.low_us = outcome.simulated.low_us;
    row.high_us = outcome.simulated.high_us;
  }
  add_baseline(row, outcome);
  if (algorithm.family.normalises) row.residual = point.residual ? "1" : "0";
  add_families(row, point, outcome.result.measures);
  return row;
}

void add_rates(Row& row, const Algorithm& algorithm, const Point& point,
               const models::Machine* machine) {
  const double bytes = static_cast<double>(row.bytes);
  if (row.m != 0) {
    if (row.time_us > 0) {
      row.tflops = 2 * static_cast<double>(row.m) * static_cast<double>(row.n) *
                   static_cast<double>(row.k) / row.pes / row.time_us * 1e-6;
    }
  } else if (row.time_us > 0 && row.bytes > 0) {
    row.algbw_gbps = bytes / row.time_us * 1e-3;
    if (algorithm.has_bound)
      row.busbw_gbps = row.algbw_gbps * models::bus_factor(point.algorithm, point.pes);
  }
  if (machine == nullptr || point.pes > machine->pes()) return;
  row.machine = machine->name + (machine->nodes > 1 ? "*" + std::to_string(machine->nodes) : "");
  row.link_percent = link_percent(row.measures, row.time_us, *machine);
  if (!algorithm.has_bound) return;
  const models::Bound bound = models::collective_bound(point.algorithm, *machine, point.pes, bytes,
                                                       models::is_multicast(point.variant));
  row.bound_us = bound.us;
  row.bound_by = bound.bound_by;
  if (row.time_us > 0) row.percent_of_bound = 100 * bound.us / row.time_us;
}

}  // namespace sym::command
