// main_command: the command line of `sym`, and of every program that links sym_main.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <stdexcept>

#include "core/error.hpp"
#include "core/text.hpp"
#include "experiments/sym/backends.hpp"
#include "experiments/sym/commands.hpp"
#include "experiments/sym/dtypes.hpp"
#include "experiments/sym/version.hpp"

namespace sym::command {

namespace {

// What the parser fills in as text before it is understood.
struct RawRun {
  std::string pes, sizes, bytes, begin, end, factor, knobs, gpus_per_thread;
  int warm_up = 0;
};

const std::vector<std::string>& op_names() {
  static const std::vector<std::string> names{"sum", "prod", "max", "min", "avg"};
  return names;
}

void add_run_options(CLI::App& run, RunOptions& o, RawRun& raw) {
  run.add_option("algorithm", o.algorithm, "all_reduce, all_gather, ... (sym list shows all)")
      ->required();
  run.add_option("--backend", o.backend, "check, thread, sim or cuda");
  run.add_option("--pes", raw.pes,
                 "number of PEs, or several: 2,4,8 (default: the machine's GPUs in sim, else 2)");
  run.add_option("--sizes", raw.sizes, "sizes in bytes: 0,2,16K or 1K:64M (doubling) or 1K:1G:x4");
  run.add_option("--bytes", raw.bytes, "one size");
  run.add_option("-b", raw.begin, "smallest size (as nccl-tests)");
  run.add_option("-e", raw.end, "largest size (as nccl-tests)");
  run.add_option("-f", raw.factor, "factor between sizes (as nccl-tests)");
  run.add_option("-g", raw.gpus_per_thread, "GPUs, one PE each (as nccl-tests)");
  run.add_option("-n", o.timed, "timed launches (as nccl-tests)");
  run.add_option("-w", raw.warm_up,
                 "warm-up launches (as nccl-tests; one batch of -n always warms up)");
  run.add_option("-c", o.verify, "verify the data: 1 or 0 (as nccl-tests)");
  run.add_option("--dtype", o.dtype, "bf16, f16, f32, f64, i32, i64 or u8");
  run.add_option("--op", o.op, "sum, prod, max, min or avg");
  run.add_option("--variant", o.variant,
                 "a variant's name, auto (by the machine's numbers) or all");
  run.add_option("--machine", o.machine,
                 "a machine's name, a JSON file or `nvidia-smi topo -m` text; *N for N nodes");
  run.add_option("--blocks", o.blocks, "blocks of a launch (default: by size)");
  run.add_option("--threads", o.threads,
                 "threads of a block on GPUs, at most 512 (default: by size)");
  run.add_option("--iterations", o.iterations, "verified launches, each with other data");
  run.add_flag("--graph", o.graph, "time the replay of a captured graph");
  run.add_option("--baseline", o.baseline, "nccl: print NCCL's own time beside ours (cuda)");
  run.add_option("--seed", o.seed, "of the data and of the random schedule");
  run.add_option("--schedule", o.schedule, "check: worst, random or fifo");
  run.add_option("--knobs", raw.knobs,
                 "check: late_source,late_delivery,split,skew,poison or none (default: all)");
  run.add_option("--runs", o.runs, "check: how many seeds, from --seed on");
  run.add_flag("--coverage", o.coverage, "check: print each op site that the last point covered");
  run.add_flag("--check", o.check, "sim: look for races as well");
  run.add_flag("--no-data", o.no_data, "sim: only time, payload has no storage");
  run.add_option("--network", o.network, "sim: simgrid or ports");
  run.add_flag("--blocks-exact", o.blocks_exact, "sim: a fibre for every block");
  run.add_option("--data", o.data,
                 "exact (integers, no tolerance) or random (seeded, for comparing hashes)");
  run.add_option("--root", o.root, "broadcast: the root's rank");
  run.add_option("--gpus", o.gpus, "cuda: GPUs to use; fewer than PEs: all PEs share one");
  run.add_option("--wait-ms", o.wait_ms, "how long a wait may last (thread, cuda; 0: for ever)");
  run.add_option("--inject", o.inject,
                 "skip=PE or count=PE: a PE that does not take part as it should");
  run.add_option("--csv", o.csv, "write the rows to a file (docs/csv.md)");
  run.add_option("--json", o.json, "write the rows to a file");
}

void require_name(const std::string& what, const std::string& name,
                  const std::vector<std::string>& names) {
  if (std::find(names.begin(), names.end(), name) != names.end()) return;
  throw UsageError("unknown " + what + " '" + name + "'; the nearest is '" +
                   nearest_name(name, names) + "'");
}

std::vector<std::string> comma_separated(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

void understand(RunOptions& o, const RawRun& raw, const Registry& registry) {
  const Algorithm& algorithm = registry.find(o.algorithm);
  require_name("backend", o.backend, backend_names());
  if (o.variant != "all") require_variant(algorithm, o.variant);
  require_name("dtype", o.dtype, dtype_names());
  require_name("op", o.op, op_names());
  require_name("data", o.data, {"exact", "random"});
  require_name("network", o.network, {"simgrid", "ports"});
  if (o.backend == "check") require_name("schedule", o.schedule, {"worst", "random", "fifo"});
  if (!o.baseline.empty()) {
    require_name("baseline", o.baseline, {"nccl"});
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

struct Other {
  std::string file, file2, out;
  bool json = false;
};

int dispatch(const Invocation& invocation, const std::string& verb,
             const std::vector<std::string>& arguments) {
  Other other;
  CLI::App app("sym " + verb);
  if (verb == "run") return run_command(invocation, parse_run(invocation.registry, arguments));
  if (verb == "list") {
    app.add_flag("--json", other.json, "for programs");
    parse(app, arguments);
    return list_command(invocation, other.json);
  }
  if (verb == "machine") {
    app.add_option("machine", other.file,
                   "a machine's name, a JSON file or `nvidia-smi topo -m` text")
        ->required();
    app.add_option("--out", other.out, "write it as JSON");
    parse(app, arguments);
    return machine_command(other.file, other.out);
  }
  if (verb == "replay") {
    app.add_option("file", other.file, "what a finding's last line names")->required();
    parse(app, arguments);
    return replay_command(invocation, other.file);
  }
  if (verb == "compare") {
    app.add_option("measured", other.file, "CSV of sym run")->required();
    app.add_option("simulated", other.file2, "CSV of sym run --backend sim")->required();
    parse(app, arguments);
    return compare_command(other.file, other.file2);
  }
  if (verb == "doctor") {
    parse(app, arguments);
    return doctor_command();
  }
  throw UsageError("unknown command '" + verb + "'; the nearest is '" +
                   nearest_name(verb, {"run", "list", "machine", "replay", "compare", "doctor"}) +
                   "'");
}

const char* usage =
    "sym: one source for multi-GPU communication, in every world\n"
    "\n"
    "  sym run ALGO --backend check|thread|sim|cuda [options]   run, verify, time (sym run "
    "--help)\n"
    "  sym list [--json]               algorithms, variants, backends, machines\n"
    "  sym machine NAME|FILE [--out F] show or convert a machine\n"
    "  sym replay FILE                 run a checker finding again, exactly\n"
    "  sym compare MEASURED SIMULATED  error of a simulation by size class\n"
    "  sym doctor                      what this machine can run\n"
    "\n"
    "Exit status: 0 right; 1 wrong data, race, deadlock; 2 bad usage or input; 3 not available "
    "here.\n";

}  // namespace

RunOptions parse_run(const Registry& registry, const std::vector<std::string>& arguments) {
  RunOptions options;
  RawRun raw;
  CLI::App app("Runs an algorithm on a backend, verifies its data and prints a row for each size",
               "sym run");
  add_run_options(app, options, raw);
  parse(app, arguments);
  understand(options, raw, registry);
  return options;
}

int main_command(int argc, char** argv, const Registry& registry) {
  const Invocation invocation{registry, argv[0]};
  const std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
  try {
    if (arguments.empty() || arguments[0] == "--help" || arguments[0] == "-h" ||
        arguments[0] == "help") {
      fmt::print("{}", usage);
      return arguments.empty() ? 2 : 0;
    }
    if (arguments[0] == "--version") {
      fmt::print("sym {} ({})\n", version(), build_id());
      return 0;
    }
    return dispatch(invocation, arguments[0], {arguments.begin() + 1, arguments.end()});
  } catch (const CLI::CallForHelp&) {
    CLI::App app("", "sym " + arguments[0]);
    RunOptions options;
    RawRun raw;
    if (arguments[0] == "run") add_run_options(app, options, raw);
    fmt::print("{}", arguments[0] == "run" ? app.help() : usage);
    return 0;
  } catch (const UsageError& error) {
    fmt::print(stderr, "sym: {}\n", error.what());
    return 2;
  } catch (const std::invalid_argument& error) {
    fmt::print(stderr, "sym: {}\n", error.what());
    return 2;
  } catch (const Unavailable& error) {
    fmt::print(stderr, "sym: {}\n", error.what());
    return 3;
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "sym: not enough memory here for so many PEs, blocks or bytes\n");
    return 3;
  } catch (const std::exception& error) {
    fmt::print(stderr, "sym: {}\n", error.what());
    return 1;
  }
}

}  // namespace sym::command
