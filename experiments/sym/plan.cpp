#include "experiments/sym/plan.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <fstream>
#include <optional>

#include "core/gemm/instances.hpp"
#include "core/gemm/verify.hpp"
#include "experiments/sym/dtypes.hpp"
#include "experiments/sym/families.hpp"
#include "experiments/sym/plan_time.hpp"
#include "experiments/sym/run_options.hpp"
#include "models/gemm_time.hpp"

namespace sym::command {

namespace {

struct PlanOptions {
  std::string what, m, n, k;
  std::string pes = "8", schedules = "all", grid, dtype = "bf16", machine, csv;
  double beta = 0;
  int max_buffers = 0;
};

void add_options(CLI::App& app, PlanOptions& o) {
  app.add_option("what", o.what, "gemm")->required();
  app.add_option("--m", o.m, "rows of A and D")->required();
  app.add_option("--n", o.n, "rows of B, columns of D")->required();
  app.add_option("--k", o.k, "columns of A and B")->required();
  app.add_option("--pes", o.pes, "number of ranks, or several: 2,4,8");
  app.add_option("--schedule", o.schedules, "all, or names: ag_a,ag_b,rs_a,rs_b,cannon");
  app.add_option("--grid", o.grid, "cannon's ranks as ROWSxCOLUMNS (default: nearest to square)");
  app.add_option("--dtype", o.dtype, "bf16, f16, f32 or f64");
  app.add_option("--beta", o.beta, "not 0: beta * C is added, so C is read");
  app.add_option("--max-buffers", o.max_buffers,
                 "buffers for foreign tiles, of A and of B each (default: as many as there are)");
  app.add_option("--machine", o.machine, "estimate the time on it: a machine's name or a file");
  app.add_option("--csv", o.csv, "write the table to a file");
}

std::vector<gemm::ScheduleMaker> chosen(const PlanOptions& o) {
  if (o.schedules == "all") {
    std::vector<gemm::ScheduleMaker> all = gemm::schedules();
    if (o.grid.empty()) return all;
    throw UsageError("--grid goes with --schedule cannon: the others run on a line of ranks");
  }
  std::vector<gemm::ScheduleMaker> some;
  for (const std::string& name : comma_separated(o.schedules))
    some.push_back(gemm::find_schedule(name));
  return some;
}

std::size_t element_bytes(const std::string& dtype) {
  if (dtype == "bf16" || dtype == "f16") return 2;
  if (dtype == "f32") return 4;
  if (dtype == "f64") return 8;
  throw UsageError("--dtype '" + dtype + "' is no type of gemm; bf16, f16, f32 and f64 are");
}

// One line of the table.
struct PlanRow {
  std::string schedule, grid, stage;  // the largest product
  int pes = 0, steps = 0, buffers = 0;
  double most_mb = 0, mean_mb = 0, c_mb = 0;  // received by a rank; of that, partial sums and C
  double workspace_mb = 0;
  std::size_t flags = 0;
  gemm::Properties good;
  std::optional<PlanTime> time;
  std::vector<std::string> faults;
};

PlanRow row_of(const gemm::Plan& plan, const PlanOptions& o) {
  const double mb = static_cast<double>(element_bytes(o.dtype)) / 1e6;
  PlanRow row;
  row.schedule = plan.schedule.name;
  row.grid = plan.schedule.grid;
  row.pes = plan.pes;
  row.steps = plan.schedule.steps;
  gemm::Extent largest;
  for (const gemm::RankPlan& rank : plan.ranks) {
    for (const gemm::Stage& s : rank.stages) {
      const gemm::Extent size{plan.tiling.m.size(s.tile.m), plan.tiling.n.size(s.tile.n),
                              plan.tiling.k.size(s.tile.k)};
      if (size.m * size.n * size.k > largest.m * largest.n * largest.k) largest = size;
    }
  }
  row.stage = fmt::format("{}x{}x{}", largest.m, largest.n, largest.k);
  std::vector<double> all(gemm::to_index(plan.pes));
  std::vector<double> sums(gemm::to_index(plan.pes));
  for (const gemm::Transfer& one : plan.transfers) {
    const double moved = static_cast<double>(one.elements) * mb;
    all[gemm::to_index(one.to)] += moved;
    if (one.what == gemm::Traffic::partial || one.what == gemm::Traffic::user_c)
      sums[gemm::to_index(one.to)] += moved;
  }
  row.most_mb = *std::max_element(all.begin(), all.end());
  for (const double one : all) row.mean_mb += one / plan.pes;
  row.c_mb = *std::max_element(sums.begin(), sums.end());
  row.buffers = plan.buffers_a + plan.buffers_b;
  for (const gemm::RankPlan& rank : plan.ranks)
    row.buffers = std::max(
        row.buffers, rank.buffers_a + rank.buffers_b + static_cast<int>(rank.partials.size()));
  row.workspace_mb = static_cast<double>(plan.workspace()) * mb;
  row.flags = plan.slots;
  row.good = gemm::properties(plan);
  row.faults = gemm::check_plan(plan);
  return row;
}

void print_head(bool timed) {
  fmt::print("{:>8} {:>7} {:>4} {:>5} {:>20} {:>9} {:>9} {:>9} {:>7} {:>9} {:>5} {:>5} {:>6}",
             "schedule", "grid", "pes", "steps", "stage", "recv MB", "mean MB", "of C MB",
             "buffers", "work MB", "flags", "local", "one-to");
  if (timed)
    fmt::print(" {:>10} {:>10} {:>10} {:>10}", "stages us", "copies us", "exposed us", "time us");
  fmt::print(" verified\n");
}

const char* yes(bool value) { return value ? "yes" : "no"; }

void print_row(const PlanRow& r) {
  fmt::print(
      "{:>8} {:>7} {:>4} {:>5} {:>20} {:>9.1f} {:>9.1f} {:>9.1f} {:>7} {:>9.1f} {:>5} {:>5} {:>6}",
      r.schedule, r.grid, r.pes, r.steps, r.stage, r.most_mb, r.mean_mb, r.c_mb, r.buffers,
      r.workspace_mb, r.flags, yes(r.good.local_start), yes(r.good.one_reader));
  if (r.time) {
    fmt::print(" {:>10.1f} {:>10.1f} {:>10.1f} {:>10.1f}", r.time->stages_us, r.time->copies_us,
               r.time->exposed_us(), r.time->total_us);
  }
  fmt::print(" {}\n", yes(r.faults.empty()));
  for (const std::string& fault : r.faults) fmt::print("  {}\n", fault);
}

void write_csv(const PlanOptions& o, const std::vector<PlanRow>& rows) {
  std::ofstream out(o.csv);
  out << "schedule,grid,pes,m,n,k,dtype,steps,stage,received_mb,mean_received_mb,of_c_mb,buffers,"
         "workspace_mb,flags,local_start,one_reader,verified,stages_us,copies_us,exposed_us,time_"
         "us,"
         "unsplit_us\n";
  for (const PlanRow& r : rows) {
    out << fmt::format("{},{},{},{},{},{},{},{},{},{:.6f},{:.6f},{:.6f},{},{:.6f},{},{},{},{}",
                       r.schedule, r.grid, r.pes, parse_size(o.m), parse_size(o.n), parse_size(o.k),
                       o.dtype, r.steps, r.stage, r.most_mb, r.mean_mb, r.c_mb, r.buffers,
                       r.workspace_mb, r.flags, yes(r.good.local_start), yes(r.good.one_reader),
                       yes(r.faults.empty()));
    if (r.time) {
      out << fmt::format(",{:.3f},{:.3f},{:.3f},{:.3f},{:.3f}\n", r.time->stages_us,
                         r.time->copies_us, r.time->exposed_us(), r.time->total_us,
                         r.time->unsplit_us);
    } else {
      out << ",,,,,\n";
    }
  }
  if (!out.flush()) throw UsageError("cannot write " + o.csv);
}

int plan_gemm(const PlanOptions& o) {
  if (o.what != "gemm") throw UsageError("plan: '" + o.what + "' has no plans; gemm has");
  if (!std::isfinite(o.beta)) throw UsageError("--beta must be a number");
  const gemm::Extent extent{parse_size(o.m), parse_size(o.n), parse_size(o.k)};
  const std::size_t element = element_bytes(o.dtype);
  std::optional<models::Machine> machine;
  if (!o.machine.empty()) {
    if (element != 2) throw UsageError("--machine knows products of bf16 and f16 alone");
    machine = models::load_machine(o.machine);
  }
  std::vector<PlanRow> rows;
  for (const gemm::ScheduleMaker& maker : chosen(o)) {
    for (const int pes : parse_counts(o.pes, "--pes")) {
      const gemm::Schedule schedule = maker.make(pes, parse_grid(o.grid));
      const gemm::Plan plan = gemm::derive(schedule, gemm::even_tiling(extent, schedule.parts),
                                           {o.beta != 0, o.max_buffers});
      rows.push_back(row_of(plan, o));
      if (machine) rows.back().time = predict(plan, *machine, element);
      if (rows.size() == 1) print_head(machine.has_value());
      print_row(rows.back());
      std::fflush(stdout);
    }
  }
  if (machine) {
    const double whole = models::gemm_us(*machine, extent.m, extent.n, extent.k);
    fmt::print("The whole product on one GPU of {}: {:.1f} us\n", machine->name, whole);
  }
  if (!o.csv.empty()) write_csv(o, rows);
  const bool wrong =
      std::any_of(rows.begin(), rows.end(), [](const PlanRow& row) { return !row.faults.empty(); });
  return wrong ? 1 : 0;
}

}  // namespace

int plan_command(const Invocation&, const std::vector<std::string>& arguments) {
  PlanOptions options;
  CLI::App app(
      "Derives a distributed GEMM from its schedule, verifies it and shows what it implies",
      "sym plan");
  add_options(app, options);
  try {
    parse(app, arguments);
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", app.help());
    return 0;
  }
  return plan_gemm(options);
}

}  // namespace sym::command
