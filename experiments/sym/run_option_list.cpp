// The options of `sym run`, as the parser and --help know them.
#include "experiments/sym/run_options.hpp"

namespace sym::command {

namespace {

void add_sim_options(CLI::App& run, SimRunOptions& o) {
  const std::string group = "sim";
  run.add_flag("--explain", o.explain,
               "what `auto` chose from, and why; on sim also what bounds each phase, the critical "
               "path, the busiest links, and the error band");
  run.add_option("--trace", o.trace, "write a timeline of the run for Perfetto (JSON)")
      ->group(group);
  run.add_option(
         "--concurrent", o.concurrent,
         "ALGORITHM[:VARIANT[:BYTES]]: another collective that starts on the same PEs at the "
         "same time")
      ->group(group);
  run.add_option("--band", o.band,
                 "how far the time moves if the assumed numbers are better or worse by so many "
                 "percent (--explain: 30)")
      ->group(group);
  run.add_option("--jitter", o.jitter,
                 "lognormal:SIGMA on each delay; the row has the median and p99 of --runs seeds")
      ->group(group);
  run.add_option("--placement", o.placement,
                 "the GPU of each PE: packed, round_robin over the nodes, or a list 0,8,1,9")
      ->group(group);
}

void add_common_options(CLI::App& run, RunOptions& o, RawRun& raw) {
  run.add_option("algorithm", o.algorithm, "all_reduce, gemm, ... (sym list shows all)")
      ->required();
  run.add_option("--backend", o.backend, "check, thread, sim or cuda");
  run.add_option("--pes", raw.pes,
                 "number of PEs, or several: 2,4,8 (default: the machine's GPUs in sim, else 2)");
  run.add_option("-g", raw.gpus_per_thread, "GPUs, one PE each (as nccl-tests)");
  run.add_option("-n", o.timed, "thread, cuda: timed launches (as nccl-tests)");
  run.add_option("-w", raw.warm_up,
                 "warm-up launches (as nccl-tests; one batch of -n always warms up)");
  run.add_option("-c", o.verify, "verify the data: 1 or 0 (as nccl-tests)");
  run.add_option("--dtype", o.dtype, "bf16, f16, f32, f64, i32, i64 or u8");
  run.add_option(
      "--machine", o.machine,
      "a machine's name or a file (sym machine --help says which); *N for N nodes. In sim "
      "several: A,B*4, and A*1:64 for 1, 2, 4 to 64 nodes");
  run.add_option("--what-if", o.what_if,
                 "sim: change the machine's numbers: nic=2x,nvlink=0.5x,launch_us=3");
  run.add_option("--blocks", o.blocks, "blocks of a launch (default: by size)");
  run.add_option("--threads", o.threads,
                 "cuda: threads of a block, at most 512 (default: by size)");
  run.add_option("--iterations", o.iterations,
                 "verified launches, each with other data (default: 3; sim runs one)");
  run.add_flag("--graph", o.graph, "thread, cuda: time the replay of a captured graph");
  run.add_option("--baseline", o.baseline,
                 "nccl: print NCCL's own time beside ours (cuda); gemm: that of its collective "
                 "plus the local product");
  run.add_option("--seed", raw.seed, "of the data and of the random schedule");
  run.add_option("--schedule", raw.schedule,
                 "check: worst, random, pct, exhaustive or fifo. gemm: which of its schedules run, "
                 "as ag_a,rs_a or "
                 "all (default: all on check, else ag_a); names of both kinds may be listed");
  run.add_flag("--check", o.check, "sim: look for races as well");
  run.add_flag("--no-data", o.no_data, "sim: only time, payload has no storage");
  run.add_option("--network", o.network,
                 "sim: simgrid or ports (default: simgrid up to 256 PEs where this build has it)");
  run.add_flag("--blocks-exact", o.blocks_exact, "sim: a fibre for every block");
  add_sim_options(run, o.sim);
  run.add_option("--gpus", o.gpus, "cuda: GPUs to use; fewer than PEs: all PEs share one");
  run.add_option("--wait-ms", o.wait_ms, "how long a wait may last (thread, cuda; 0: for ever)");
  run.add_option("--inject", o.inject,
                 "a PE that does not take part as it should: skip=PE, or count=PE of what takes a "
                 "count; moe_dispatch_combine: bad_id, nan_weight or overflow. sim, several: "
                 "slow_gpu=PE:F, slow_nic=PE:F, slow_link=PE-PE:F (F times as slow, from 1 on) and "
                 "background=PE-PE:GBPS (another flow)");
  run.add_option("--csv", o.csv, "write the rows to a file (docs/csv.md)");
  run.add_option("--json", o.json, "write the rows to a file");
}

void add_check_options(CLI::App& run, RunOptions& o, RawRun& raw) {
  const std::string group = "check";
  const auto add = [&](const char* name, auto& value, const char* text) {
    run.add_option(name, value, text)->group(group);
  };
  add("--runs", o.runs,
      "check with --schedule random or pct, and sim with --jitter (20): how many seeds, from "
      "--seed on");
  add("--knobs", raw.knobs,
      "late_source,late_delivery,split,skew,poison (worst); shuffle,launch_order,wrap; or none "
      "(default: all that are on by themselves)");
  add("--depth", o.depth, "pct: of the bugs that the printed chance is about (default 2)");
  add("--bound", o.bound, "exhaustive: preemptions of an execution at most (default: no bound)");
  add("--budget", raw.budget, "steps of a run, or of all executions, at most: 1000000 or 10M");
  add("--time-limit", o.most_seconds, "seconds of a run, or of all executions, at most");
  add("--resident", o.resident, "blocks of a PE that run at once; the others wait for a place");
  run.add_flag("--coverage", o.coverage, "print each op site that the runs covered")->group(group);
  add("--findings", o.findings, "write the findings as JSON lines (also of sim --check)");
  add("--sarif", o.sarif, "write the findings as SARIF 2.1.0, for code scanning");
  add("--suppress", o.suppress, "a file of findings that are accepted: KIND FILE:LINE REASON");
}

void add_collective_options(CLI::App& run, RunOptions& o, RawRun& raw) {
  const std::string group = "Collectives";
  const auto add = [&](const char* name, auto& value, const char* text) {
    run.add_option(name, value, text)->group(group);
  };
  add("--sizes", raw.sizes, "sizes in bytes: 0,2,16K or 1K:64M (doubling) or 1K:1G:x4");
  add("--bytes", raw.bytes, "one size");
  add("-b", raw.begin, "smallest size (as nccl-tests)");
  add("-e", raw.end, "largest size (as nccl-tests)");
  add("-f", raw.factor, "factor between sizes (as nccl-tests)");
  add("--op", o.op, "of what reduces: sum, prod, max, min or avg");
  add("--data", o.data, "exact (integers, no tolerance) or random (seeded, for comparing hashes)");
  add("--root", o.root, "broadcast: the root's rank");
  add("--per-node", o.per_node,
      "variants in two levels (hierarchical..., nvls_tree, two_hop): PEs that they take for a node "
      "(default: by the machine)");
  add("--pieces", o.pieces,
      "push, staged, ring_pipelined, double_tree, hierarchical_tree, nvls_tree: pieces that a part "
      "goes in (default: by the machine's numbers)");
  add("--head", raw.head,
      "copy_engine: bytes of each part that blocks put meanwhile (default: by the machine's "
      "numbers)");
  add("--variant", o.variant,
      "a variant's name, auto (by the machine's numbers) or all; of every algorithm but gemm");
  add("--flavour", o.flavour,
      "sim: nccl runs what NCCL would choose, with its latencies and rates; nccl:ring or "
      "nccl:ring/LL128 chooses in its place (as NCCL_ALGO and NCCL_PROTO)");
}

void add_exchange_options(CLI::App& run, RunOptions& o, RawRun& raw) {
  const std::string group = "moe_dispatch_combine and all_to_all_v";
  const auto add = [&](const char* name, auto& value, const char* text) {
    run.add_option(name, value, text)->group(group);
  };
  add("--tokens", raw.tokens,
      "rows of a PE, or several: 0,1,128 (default 64). moe_dispatch_combine: PE p has as many, and "
      "in every second verified launch p fewer. all_to_all_v: rows that a PE sends, about");
  add("--hidden", raw.hidden, "elements of a row (default 64)");
  add("--capacity", raw.capacity, "rows that a PE can receive (default: the most that can come)");
  add("--experts", o.experts, "experts of all PEs together (default 16)");
  add("--topk", o.topk, "experts that a token goes to (default 4)");
  add("--alignment", raw.alignment, "rows of an expert begin at multiples of it (default 1)");
  add("--routing", raw.routing,
      "uniform, one_expert (all tokens to the same experts) or skewed (Zipf), or several");
  add("--splits", raw.splits,
      "uniform (random), primes (a prime number of rows for each pair, whatever --tokens says), "
      "zero (most pairs have none) or one_peer (all rows to one PE), or several");
}

void add_gemm_options(CLI::App& run, RunOptions& o, RawRun& raw) {
  const std::string group = "gemm";
  run.add_option("--m", raw.m, "rows of A and D (default 512)")->group(group);
  run.add_option("--n", raw.n, "rows of B, columns of D (default 512)")->group(group);
  run.add_option("--k", raw.k, "columns of A and B (default 512)")->group(group);
  run.add_option("--grid", o.grid, "cannon: ROWSxCOLUMNS of the PEs (default: nearest to square)")
      ->group(group);
  run.add_option("--beta", o.beta, "D = A B^T + beta C (default 0)")->group(group);
  run.add_flag("--bias", o.bias, "add a bias to every row of D")->group(group);
  run.add_option("--max-buffers", o.max_buffers,
                 "buffers for tiles of peers, reused in turn (default 0: one for each tile)")
      ->group(group);
}

void add_layer_options(CLI::App& run, RunOptions& o, RawRun& raw) {
  run.add_flag("--residual", o.residual,
               "all_reduce_rms_norm (which takes --tokens and --hidden too): add a residual, which "
               "gets what is normalised")
      ->group("all_reduce_rms_norm");
  const std::string group = "tile_reduce";
  run.add_option("--rows", raw.rows, "of the matrix (default 256)")->group(group);
  run.add_option("--cols", raw.cols, "of the matrix (default 256)")->group(group);
  run.add_option("--tile", raw.tiles,
                 "ROWSxCOLUMNS of a tile, or several: 2048x2048,128x128 (default 128x128); tile k "
                 "goes to rank k modulo the PEs")
      ->group(group);
}

}  // namespace

void add_run_options(CLI::App& run, RunOptions& options, RawRun& raw) {
  add_common_options(run, options, raw);
  add_check_options(run, options, raw);
  add_collective_options(run, options, raw);
  add_exchange_options(run, options, raw);
  add_gemm_options(run, options, raw);
  add_layer_options(run, options, raw);
}

}  // namespace sym::command
