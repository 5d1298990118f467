// main_command: the command line of `sym`, and of every program that links sym_main.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <stdexcept>

#include "backends/report/build.hpp"
#include "core/error.hpp"
#include "core/text.hpp"
#include "experiments/sym/calibrate.hpp"
#include "experiments/sym/commands.hpp"
#include "experiments/sym/mutate.hpp"
#include "experiments/sym/plan.hpp"
#include "experiments/sym/run_options.hpp"

namespace sym::command {

namespace {

struct Other {
  std::string file, file2, out, what_if;
  bool json = false, shrink = false;
};

int dispatch(const Invocation& invocation, const std::string& verb,
             const std::vector<std::string>& arguments) {
  Other other;
  CLI::App app("sym " + verb);
  if (verb == "run") return run_command(invocation, parse_run(invocation.registry, arguments));
  if (verb == "plan") return plan_command(invocation, arguments);
  if (verb == "mutate") return mutate_command(invocation, arguments);
  if (verb == "calibrate") return calibrate_command(arguments);
  if (verb == "list") {
    app.add_flag("--json", other.json, "for programs");
    parse(app, arguments);
    return list_command(invocation, other.json);
  }
  if (verb == "machine") {
    app.add_option(
           "machine", other.file,
           "a machine's name, JSON, `nvidia-smi topo -m` text, NCCL's topology XML, a SimGrid "
           "platform or an ASTRA-sim network; *N for N nodes")
        ->required();
    app.add_option("--out", other.out, "write it as JSON");
    app.add_option("--what-if", other.what_if, "change its numbers: nic=2x,launch_us=3");
    parse(app, arguments);
    return machine_command(other.file, other.out, other.what_if);
  }
  if (verb == "replay") {
    app.add_option("file", other.file, "what a finding's last line names")->required();
    app.add_flag("--shrink", other.shrink, "make it small, and show what happens side by side");
    app.add_option("--out", other.out, "--shrink: the file to write (default: a name of its own)");
    parse(app, arguments);
    if (!other.out.empty() && !other.shrink) throw UsageError("--out goes with --shrink");
    if (other.shrink) return shrink_command(invocation, other.file, other.out);
    return replay_command(invocation, other.file);
  }
  if (verb == "compare") {
    std::string columns = "oop_time_us,ip_time_us";
    app.add_option("measured", other.file, "CSV of sym run, or one with size_bytes and times")
        ->required();
    app.add_option("simulated", other.file2, "CSV of sym run --backend sim")->required();
    app.add_option("--columns", columns,
                   "of the times beside size_bytes: the least counts (default: oop_time_us,"
                   "ip_time_us)");
    parse(app, arguments);
    return compare_command(other.file, other.file2, comma_separated(columns));
  }
  if (verb == "doctor") {
    parse(app, arguments);
    return doctor_command();
  }
  throw UsageError("unknown command '" + verb + "'; the nearest is '" +
                   nearest_name(verb, {"run", "plan", "list", "machine", "replay", "mutate",
                                       "compare", "calibrate", "doctor"}) +
                   "'");
}

const char* usage =
    "sym: one source for multi-GPU communication, in every world\n"
    "\n"
    "  sym run ALGO --backend check|thread|sim|cuda [options]   run, verify, time (sym run "
    "--help)\n"
    "  sym plan gemm [options]         show and verify distributed products' schedules\n"
    "  sym list [--json]               algorithms, variants, backends, machines\n"
    "  sym machine NAME|FILE [--out F] show or convert a machine\n"
    "  sym calibrate --out F [options] measure two GPUs' constants, and write a machine file\n"
    "  sym replay FILE [--shrink]      run a checker finding again, exactly; or make it small\n"
    "  sym mutate ALGO [options]       drop or weaken each synchronisation in turn: who notices?\n"
    "  sym compare MEASURED SIMULATED  error of a simulation by size class\n"
    "  sym doctor                      what this machine can run\n"
    "\n"
    "Exit status: 0 right; 1 wrong data, race, deadlock; 2 bad usage or input; 3 not available "
    "here.\n";

}  // namespace

int main_command(int argc, char** argv, const Registry& registry) {
  const Invocation invocation{registry, argv[0]};
  const std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
  try {
    registry.require_distinct();
    if (arguments.empty() || arguments[0] == "--help" || arguments[0] == "-h" ||
        arguments[0] == "help") {
      fmt::print("{}", usage);
      return arguments.empty() ? 2 : 0;
    }
    if (arguments[0] == "--version") {
      fmt::print("sym {} ({})\n", report::version(), report::build_id());
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
