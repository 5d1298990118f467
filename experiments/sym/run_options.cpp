// The command line of `sym run`: from words to RunOptions.
#include "experiments/sym/run_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "core/error.hpp"
#include "core/launch.hpp"
#include "core/text.hpp"
#include "experiments/sym/backends.hpp"
#include "experiments/sym/commands.hpp"
#include "experiments/sym/dtypes.hpp"
#include "experiments/sym/option_uses.hpp"
#include "sim/disturbance.hpp"

namespace sym::command {

namespace {

const std::vector<std::string>& checker_schedules() {
  static const std::vector<std::string> names{"worst", "random", "pct", "exhaustive", "fifo"};
  return names;
}

bool has_name(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
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

// The parser would take -1 for 2^64 - 1.
std::uint64_t parse_seed(const std::string& text) {
  std::uint64_t seed = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, seed);
  if (error != std::errc() || rest != end)
    throw UsageError("--seed '" + text + "': write a number of at least 0, as 1");
  return seed;
}

// Options of another family would do nothing, so they are refused.
void require_family(const CLI::App& app, const Algorithm& algorithm) {
  const std::vector<std::string>& takes = algorithm.family.takes;
  for (const std::string& name : family_options()) {
    if (app.get_option(name)->count() == 0 || has_name(takes, name)) continue;
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
    } else if (has_name(own, name)) {
      o.gemm_schedules.push_back(name);
    } else {
      if (chosen) throw UsageError("--schedule '" + text + "': the checker takes one at a time");
      chosen = true;
      o.schedule = name;
    }
  }
  if (chosen && o.backend != "check" && has_name(o.given, "--schedule"))
    throw UsageError("--schedule goes with --backend check alone");
}

// Of an algorithm that has no estimates of its own.
std::string why_unchosen(const Algorithm& algorithm) {
  if (algorithm.variants.size() < 2) return algorithm.name + " has one variant";
  if (algorithm.family.normalises)
    return "that of " + algorithm.name + " is as for an all_reduce of as many bytes";
  return "those of " + algorithm.name + " are asked for by name";
}

void require_backend(const RunOptions& o, const Algorithm& algorithm) {
  if (!o.baseline.empty()) {
    require_name("baseline", o.baseline, {"nccl"});
    if (!algorithm.has_bound && !algorithm.family.has_baseline)
      throw UsageError("--baseline nccl: NCCL has nothing that " + algorithm.name +
                       " could be compared with");
    if (o.backend != "cuda")
      throw UsageError("--baseline nccl needs GPUs: it goes with --backend cuda");
  }
  if (o.sim.explain && o.backend != "sim" && !algorithm.has_bound) {
    throw UsageError(
        fmt::format("--explain says how a variant was chosen, and {}; what takes the time it says "
                    "with --backend "
                    "sim alone",
                    why_unchosen(algorithm)));
  }
  if (o.variant == nccl_variant && o.backend != "cuda")
    throw UsageError("--variant nccl goes with --backend cuda alone");
  const bool deterministic = o.backend == "check" || o.backend == "sim";
  if (!o.verify && deterministic)
    throw UsageError("-c 0 goes with thread and cuda: check and sim run what they verify");
  if (!o.verify && !o.inject.empty())
    throw UsageError("--inject shows in verified launches: leave out -c 0");
}

// What --inject says of a simulated machine goes to the simulator; the rest is the program's.
void understand_sim(RunOptions& o, const CLI::App& app) {
  std::string rest;
  for (const std::string& part : comma_separated(o.inject)) {
    std::string& to = sim::is_disturbance(part) ? o.sim.disturb : rest;
    to += (to.empty() ? "" : ",") + part;
  }
  o.inject = rest;
  if (!o.sim.disturb.empty() && o.backend != "sim")
    throw UsageError("--inject " + o.sim.disturb + " goes with --backend sim alone");
  if (app.get_option("--band")->count() > 0 && !(o.sim.band > 0 && o.sim.band <= 1000))
    throw UsageError("--band takes a percentage above 0 and up to 1000");
  if (o.backend == "sim" && o.sim.explain && o.sim.band <= 0) o.sim.band = 30;
  if (o.sim.jitter.empty()) return;
  if (app.get_option("--runs")->count() == 0) o.runs = 20;
  o.sim.runs = std::exchange(o.runs, 1);  // a row for all, not one each
}

// Options of one schedule do nothing under another, so they are refused.
void require_schedule(const RunOptions& o) {
  if (has_name(o.given, "--runs") && o.sim.jitter.empty() && o.backend != "check") {
    throw UsageError(
        o.backend == "sim"
            ? "--runs counts seeds of --jitter; without it every run of sim takes the same time"
            : "--runs goes with --schedule random or pct of --backend check, and with --jitter of "
              "--backend sim; this is " +
                  o.backend);
  }
  if (o.backend != "check") return;
  const auto only = [&](const char* option, const std::vector<std::string>& schedules) {
    if (has_name(o.given, option) && !has_name(schedules, o.schedule)) {
      throw UsageError(fmt::format("{} goes with --schedule {}; this is {}", option,
                                   fmt::join(schedules, " or "), o.schedule));
    }
  };
  only("--runs", {"random", "pct"});
  only("--depth", {"pct"});
  only("--bound", {"exhaustive"});
  only("--knobs", {"worst", "random", "pct"});
}

void understand_sizes(RunOptions& o, const RawRun& raw) {
  const int sources = static_cast<int>(!raw.sizes.empty()) + static_cast<int>(!raw.bytes.empty()) +
                      static_cast<int>(!raw.begin.empty() || !raw.end.empty());
  if (sources > 1) throw UsageError("say the sizes once: --sizes, --bytes or -b with -e");
  if (!raw.factor.empty() && raw.begin.empty() && raw.end.empty())
    throw UsageError(
        "-f is the factor between the sizes from -b to -e; --sizes 1K:1G:x4 has its own");
  if (!raw.pes.empty() && !raw.gpus_per_thread.empty())
    throw UsageError("say the number of PEs once: --pes or -g");
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
  if (!raw.rows.empty()) o.rows = parse_number("--rows", raw.rows);
  if (!raw.cols.empty()) o.cols = parse_number("--cols", raw.cols);
  if (!raw.tiles.empty()) o.tiles = comma_separated(raw.tiles);
  if (!raw.m.empty()) o.m = parse_number("--m", raw.m);
  if (!raw.n.empty()) o.n = parse_number("--n", raw.n);
  if (!raw.k.empty()) o.k = parse_number("--k", raw.k);
}

void understand(RunOptions& o, const RawRun& raw, const Algorithm& algorithm, const CLI::App& app) {
  require_name("backend", o.backend, backend_names());
  if (o.variant != "all") require_variant(algorithm, o.variant);
  require_name("dtype", o.dtype, dtype_names());
  require_dtype(algorithm, o.variant, o.dtype);
  require_name("op", o.op, op_names());
  require_name("data", o.data, {"exact", "random"});
  if (!o.network.empty()) require_name("network", o.network, {"simgrid", "ports"});
  understand_schedule(o, raw.schedule, algorithm);
  understand_sim(o, app);
  require_backend(o, algorithm);
  require_uses_of_backend(o);
  require_schedule(o);
  understand_sizes(o, raw);
  understand_families(o, raw);
  if (!raw.knobs.empty()) o.knobs = comma_separated(raw.knobs);
  if (!raw.seed.empty()) o.seed = parse_seed(raw.seed);
  if (!raw.budget.empty()) o.most_steps = parse_number("--budget", raw.budget);
  if (!raw.head.empty()) o.head = static_cast<long long>(parse_size(raw.head));
  const auto at_least = [](const char* option, int value, int least) {
    if (value < least)
      throw UsageError(std::string(option) + " must be at least " + std::to_string(least));
  };
  at_least("--blocks", o.blocks, 0);
  at_least("--iterations", o.iterations, 0);
  at_least("--runs", o.runs, 1);
  at_least("--runs", o.sim.runs, 1);
  at_least("--depth", o.depth, 1);
  at_least("--bound", o.bound, -1);
  at_least("--resident", o.resident, 0);
  if (!(o.most_seconds >= 0) || !std::isfinite(o.most_seconds))
    throw UsageError("--time-limit must be a number of seconds of at least 0 (0: no limit)");
  at_least("-n", o.timed, 0);
  at_least("--root", o.root, 0);
  at_least("--per-node", o.per_node, 0);
  at_least("--pieces", o.pieces, 0);
  at_least("--wait-ms", o.wait_ms, 0);
  if (o.threads < 0 || o.threads > most_threads || o.threads % 32 != 0) {
    throw UsageError("--threads must be a multiple of 32 up to 512 (0: by size)");
  }
}

std::vector<std::string> given_to(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() > 0) names.push_back(option->get_name());
  }
  return names;
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

void refuse_empty(const std::vector<std::string>& arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& one = arguments[i];
    if (one.empty()) {
      throw UsageError(i > 0 && arguments[i - 1].starts_with("-")
                           ? arguments[i - 1] + ": its value is empty"
                           : "an argument is empty");
    }
    if (one.starts_with("-") && one.ends_with("="))
      throw UsageError(one.substr(0, one.size() - 1) + ": its value is empty");
  }
}

void parse(CLI::App& app, std::vector<std::string> arguments) {
  refuse_empty(arguments);
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
  options.given = given_to(app);
  understand(options, raw, algorithm, app);
  return options;
}

}  // namespace sym::command
