// The command line of `sym run`: from words to RunOptions.
#include "experiments/sym/run_options.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"
#include "core/text.hpp"
#include "experiments/sym/backends.hpp"
#include "experiments/sym/commands.hpp"
#include "experiments/sym/dtypes.hpp"

namespace sym::command {

namespace {

const std::vector<std::string>& op_names() {
  static const std::vector<std::string> names{"sum", "prod", "max", "min", "avg"};
  return names;
}
const std::vector<std::string>& checker_schedules() {
  static const std::vector<std::string> names{"worst", "random", "fifo"};
  return names;
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

void add_common_options(CLI::App& run, RunOptions& o, RawRun& raw) {
  run.add_option("algorithm", o.algorithm, "all_reduce, gemm, ... (sym list shows all)")
      ->required();
  run.add_option("--backend", o.backend, "check, thread, sim or cuda");
  run.add_option("--pes", raw.pes,
                 "number of PEs, or several: 2,4,8 (default: the machine's GPUs in sim, else 2)");
  run.add_option("-g", raw.gpus_per_thread, "GPUs, one PE each (as nccl-tests)");
  run.add_option("-n", o.timed, "timed launches (as nccl-tests)");
  run.add_option("-w", raw.warm_up,
                 "warm-up launches (as nccl-tests; one batch of -n always warms up)");
  run.add_option("-c", o.verify, "verify the data: 1 or 0 (as nccl-tests)");
  run.add_option("--dtype", o.dtype, "bf16, f16, f32, f64, i32, i64 or u8");
  run.add_option("--machine", o.machine,
                 "a machine's name, a JSON file or `nvidia-smi topo -m` text; *N for N nodes");
  run.add_option("--blocks", o.blocks, "blocks of a launch (default: by size)");
  run.add_option("--threads", o.threads,
                 "threads of a block on GPUs, at most 512 (default: by size)");
  run.add_option("--iterations", o.iterations, "verified launches, each with other data");
  run.add_flag("--graph", o.graph, "time the replay of a captured graph");
  run.add_option("--baseline", o.baseline,
                 "nccl: print NCCL's own time beside ours (cuda); gemm: that of its collective "
                 "plus the local product");
  run.add_option("--seed", o.seed, "of the data and of the random schedule");
  run.add_option("--schedule", raw.schedule,
                 "check: worst, random or fifo. gemm: which of its schedules run, as ag_a,rs_a or "
                 "all (default: all on check, else ag_a); names of both kinds may be listed");
  run.add_option("--knobs", raw.knobs,
                 "check: late_source,late_delivery,split,skew,poison or none (default: all)");
  run.add_option("--runs", o.runs, "check: how many seeds, from --seed on");
  run.add_flag("--coverage", o.coverage, "check: print each op site that the last point covered");
  run.add_flag("--check", o.check, "sim: look for races as well");
  run.add_flag("--no-data", o.no_data, "sim: only time, payload has no storage");
  run.add_option("--network", o.network, "sim: simgrid or ports");
  run.add_flag("--blocks-exact", o.blocks_exact, "sim: a fibre for every block");
  run.add_option("--gpus", o.gpus, "cuda: GPUs to use; fewer than PEs: all PEs share one");
  run.add_option("--wait-ms", o.wait_ms, "how long a wait may last (thread, cuda; 0: for ever)");
  run.add_option("--inject", o.inject,
                 "skip=PE or (collectives) count=PE: a PE that does not take part as it should; "
                 "moe_dispatch_combine: bad_id, nan_weight or overflow");
  run.add_option("--csv", o.csv, "write the rows to a file (docs/csv.md)");
  run.add_option("--json", o.json, "write the rows to a file");
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
  add("--op", o.op, "sum, prod, max, min or avg");
  add("--data", o.data, "exact (integers, no tolerance) or random (seeded, for comparing hashes)");
  add("--root", o.root, "broadcast: the root's rank");
  add("--variant", o.variant,
      "a variant's name, auto (by the machine's numbers) or all; of every algorithm but gemm");
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

std::size_t parse_number(const std::string& option, const std::string& text) {
  try {
    return parse_size(text);
  } catch (const UsageError&) {
    throw UsageError(option + " '" + text + "': write a number, as 7168 or 16K");
  }
}

std::vector<std::size_t> parse_numbers(const std::string& option, const std::string& text) {
  std::vector<std::size_t> numbers;
  for (const std::string& part : comma_separated(text))
    numbers.push_back(parse_number(option, part));
  return numbers;
}

// Options of another family would do nothing, so they are refused.
void require_family(const CLI::App& app, const Algorithm& algorithm) {
  const std::vector<std::string>& takes = algorithm.family.takes;
  for (const std::string& name : family_options()) {
    if (app.get_option(name)->count() == 0 || contains(takes, name)) continue;
    throw UsageError(fmt::format("{} is no option of {}; its own are {}", name, algorithm.name,
                                 fmt::join(takes, ", ")));
  }
}

// The checker's schedule, and those of the algorithm itself.
void understand_schedule(RunOptions& o, const std::string& text, const Algorithm& algorithm) {
  const std::vector<std::string>& own = algorithm.family.schedules;
  std::vector<std::string> all = checker_schedules();
  all.insert(all.end(), own.begin(), own.end());
  if (!own.empty()) all.emplace_back("all");
  bool chosen = false;
  for (const std::string& name : comma_separated(text)) {
    require_name("schedule", name, all);
    if (name == "all") {
      o.gemm_schedules = own;
    } else if (contains(own, name)) {
      o.gemm_schedules.push_back(name);
    } else {
      if (chosen) throw UsageError("--schedule '" + text + "': the checker takes one at a time");
      chosen = true;
      o.schedule = name;
    }
  }
}

void require_backend(const RunOptions& o, const RawRun& raw, const Algorithm& algorithm) {
  if (!o.baseline.empty()) {
    require_name("baseline", o.baseline, {"nccl"});
    if (!algorithm.has_bound && !algorithm.family.has_baseline)
      throw UsageError("--baseline nccl: NCCL has nothing that " + algorithm.name +
                       " could be compared with");
    if (o.backend != "cuda")
      throw UsageError("--baseline nccl needs GPUs: it goes with --backend cuda");
  }
  const auto only = [&o](bool given, const char* option, const std::string& backend) {
    if (given && o.backend != backend)
      throw UsageError(std::string(option) + " goes with --backend " + backend + " alone");
  };
  only(o.no_data, "--no-data", "sim");
  only(o.check, "--check", "sim");
  only(o.blocks_exact, "--blocks-exact", "sim");
  only(o.network != "simgrid", "--network", "sim");
  only(o.graph && o.backend != "thread", "--graph", "cuda");
  only(o.coverage, "--coverage", "check");
  only(o.schedule != "worst", "--schedule", "check");
  only(o.runs != 1, "--runs", "check");
  if (o.runs != 1 && o.schedule != "random")
    throw UsageError("--runs goes with --schedule random: the others have no seed");
  if (!raw.knobs.empty() && (o.backend != "check" || o.schedule != "worst")) {
    throw UsageError("--knobs goes with --backend check and --schedule worst");
  }
  const bool deterministic = o.backend == "check" || o.backend == "sim";
  if (!o.verify && deterministic)
    throw UsageError("-c 0 goes with thread and cuda: check and sim run what they verify");
  if (!o.verify && !o.inject.empty())
    throw UsageError("--inject shows in verified launches: leave out -c 0");
}

void understand_sizes(RunOptions& o, const RawRun& raw) {
  const int sources = static_cast<int>(!raw.sizes.empty()) + static_cast<int>(!raw.bytes.empty()) +
                      static_cast<int>(!raw.begin.empty() || !raw.end.empty());
  if (sources > 1) throw UsageError("say the sizes once: --sizes, --bytes or -b with -e");
  if (!raw.pes.empty()) o.pes = parse_counts(raw.pes, "--pes");
  if (!raw.gpus_per_thread.empty()) o.pes = parse_counts(raw.gpus_per_thread, "-g");
  if (!raw.sizes.empty()) o.sizes = parse_sizes(raw.sizes);
  if (!raw.bytes.empty()) o.sizes = {parse_size(raw.bytes)};
  if (!raw.begin.empty() || !raw.end.empty()) {
    const std::string first = raw.begin.empty() ? raw.end : raw.begin;
    const std::string last = raw.end.empty() ? raw.begin : raw.end;
    o.sizes = parse_sizes(first + ":" + last + (raw.factor.empty() ? "" : ":x" + raw.factor));
  }
}

void understand_families(RunOptions& o, const RawRun& raw) {
  if (!raw.tokens.empty()) o.tokens = parse_numbers("--tokens", raw.tokens);
  if (!raw.hidden.empty()) o.hidden = parse_number("--hidden", raw.hidden);
  if (!raw.capacity.empty()) {
    o.capacity = parse_number("--capacity", raw.capacity);
    if (o.capacity == 0) throw UsageError("--capacity must be at least 1");
  }
  if (raw.alignment < 1) {
    throw UsageError(fmt::format("--alignment {}: at least 1 is needed", raw.alignment));
  }
  o.alignment = static_cast<std::size_t>(raw.alignment);
  if (!raw.routing.empty()) o.routing = comma_separated(raw.routing);
  if (!raw.splits.empty()) o.splits = comma_separated(raw.splits);
  if (!raw.m.empty()) o.m = parse_number("--m", raw.m);
  if (!raw.n.empty()) o.n = parse_number("--n", raw.n);
  if (!raw.k.empty()) o.k = parse_number("--k", raw.k);
}

void understand(RunOptions& o, const RawRun& raw, const Algorithm& algorithm) {
  require_name("backend", o.backend, backend_names());
  if (o.variant != "all") require_variant(algorithm, o.variant);
  require_name("dtype", o.dtype, dtype_names());
  require_dtype(algorithm, o.dtype);
  require_name("op", o.op, op_names());
  require_name("data", o.data, {"exact", "random"});
  require_name("network", o.network, {"simgrid", "ports"});
  understand_schedule(o, raw.schedule, algorithm);
  require_backend(o, raw, algorithm);
  understand_sizes(o, raw);
  understand_families(o, raw);
  if (!raw.knobs.empty()) o.knobs = comma_separated(raw.knobs);
  const auto at_least = [](const char* option, int value, int least) {
    if (value < least)
      throw UsageError(std::string(option) + " must be at least " + std::to_string(least));
  };
  at_least("--blocks", o.blocks, 0);
  at_least("--iterations", o.iterations, 0);
  at_least("--runs", o.runs, 1);
  at_least("-n", o.timed, 0);
  at_least("--root", o.root, 0);
  at_least("--wait-ms", o.wait_ms, 0);
  if (o.threads < 0 || o.threads > 512 || o.threads % 32 != 0) {
    throw UsageError("--threads must be a multiple of 32 up to 512 (0: by size)");
  }
}

// An option that the parser did not know: one sentence with the nearest that exists.
[[noreturn]] void refuse_unknown(const CLI::App& app, const std::string& word) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  throw UsageError("unknown argument '" + word + "'; the nearest is '" +
                   nearest_name(word.substr(0, word.find('=')), names) + "'");
}

}  // namespace

void add_run_options(CLI::App& run, RunOptions& options, RawRun& raw) {
  add_common_options(run, options, raw);
  add_collective_options(run, options, raw);
  add_exchange_options(run, options, raw);
  add_gemm_options(run, options, raw);
}

void parse(CLI::App& app, std::vector<std::string> arguments) {
  app.allow_extras();
  std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the back
  try {
    app.parse(arguments);
  } catch (const CLI::CallForHelp&) {
    throw;
  } catch (const CLI::ParseError& error) {
    throw UsageError(error.what());
  }
  const std::vector<std::string> rest = app.remaining();
  if (!rest.empty()) refuse_unknown(app, rest.front());
}

RunOptions parse_run(const Registry& registry, const std::vector<std::string>& arguments) {
  RunOptions options;
  RawRun raw;
  CLI::App app("Runs an algorithm on a backend, verifies its data and prints a row for each size",
               "sym run");
  add_run_options(app, options, raw);
  parse(app, arguments);
  const Algorithm& algorithm = registry.find(options.algorithm);
  require_family(app, algorithm);
  understand(options, raw, algorithm);
  return options;
}

}  // namespace sym::command
