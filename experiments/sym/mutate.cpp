#include "experiments/sym/mutate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <map>

#include "backends/report/findings.hpp"
#include "core/error.hpp"
#include "experiments/sym/run_options.hpp"
#include "models/machine.hpp"

namespace sym::command {

namespace {

using Arguments = std::vector<std::string>;

// Takes `name` and its value out of the arguments; empty if it is not among them.
std::string take_option(Arguments& arguments, const std::string& name) {
  const auto found = std::find_if(arguments.begin(), arguments.end(), [&](const std::string& one) {
    return one == name || one.starts_with(name + "=");
  });
  if (found == arguments.end()) return "";
  if (*found != name) {
    std::string value = found->substr(name.size() + 1);
    arguments.erase(found);
    return value;
  }
  if (found + 1 == arguments.end()) throw UsageError(name + ": a value is missing");
  std::string value = *(found + 1);
  arguments.erase(found, found + 2);
  return value;
}

// `wanted` says what to write in place of what is none.
double parse_number(const std::string& text, double otherwise, const std::string& wanted) {
  if (text.empty()) return otherwise;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= 0))
    throw UsageError("'" + text + "': write " + wanted);
  return value;
}

bool says(const Arguments& arguments, const std::string& name) {
  return std::any_of(arguments.begin(), arguments.end(), [&](const std::string& argument) {
    return argument == name || argument.starts_with(name + "=");
  });
}

// What the user has said, and what mutation runs take otherwise.
struct Defaults {
  std::string pes, blocks, iterations;
};

Arguments completed(const Algorithm& algorithm, Arguments arguments, const Defaults& defaults) {
  const auto otherwise = [&](const char* name, const std::string& value) {
    if (!says(arguments, name)) arguments.insert(arguments.end(), {name, value});
  };
  arguments.insert(arguments.end(), {"--backend", "check"});
  otherwise("--pes", defaults.pes);
  otherwise("--blocks", defaults.blocks);
  otherwise("--iterations", defaults.iterations);
  const Arguments& types = algorithm.dtypes;
  const bool f32 = types.empty() || std::find(types.begin(), types.end(), "f32") != types.end();
  otherwise("--dtype", f32 ? "f32" : types.front());
  const Arguments& takes = algorithm.family.takes;
  if (std::find(takes.begin(), takes.end(), "--variant") != takes.end())
    otherwise("--variant", "all");
  return arguments;
}

// Else a run of minutes would be for nothing.
void require_files(const RunOptions& run, const std::string& expect, const std::string& algorithm) {
  for (const std::string& path : {run.csv, run.json}) {
    if (!path.empty()) report::require_writable(path);
  }
  if (expect.empty()) return;
  require_mutants_csv(expect);
  std::ifstream in(expect);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(algorithm + ",")) return;
  }
  throw UsageError("--expect " + expect + " has no mutant of " + algorithm);
}

constexpr const char* help =
    "sym mutate ALGO [options]\n"
    "Drops or weakens each synchronisation of an algorithm in turn, runs the changed program "
    "under\n"
    "the checker, and says who noticed: killed, hang, equivalent, vacuous (there was nothing to "
    "order) or survived.\n"
    "\n"
    "  --proof-seconds S  of an exhaustive search for each survivor (2; 0: none)\n"
    "  --csv F, --json F  write every mutant\n"
    "  --expect F         a CSV of an earlier run: exit status 1 if what was killed survives now\n"
    "  --min-score P      exit status 1 if of some group less than P percent are killed\n"
    "\n"
    "The shape is 4 PEs, 2 blocks, three launches and small sizes, of all variants; options of\n"
    "`sym run --backend check` (sym run --help) say another: --pes, --blocks, --iterations, "
    "--bytes,\n"
    "--variant, --dtype, --schedule, --seed and those of the algorithm's family.\n"
    "\n"
    "Exit status: 0 all mutants have been tried, whoever noticed; 1 lost a kill, or a program "
    "with\n"
    "findings of its own, or a group below --min-score; 2 bad usage or input; 3 this build has no "
    "checker.\n";

// Shapes by variant, in the order of the variants.
struct Shapes {
  std::vector<std::string> variants;
  std::map<std::string, std::vector<Point>> points;

  void add(const Algorithm& algorithm, const RunOptions& options) {
    models::Machine machine = models::load_machine("dgx-h200");  // for `auto` alone
    for (const int pes : options.pes) {
      machine.gpus_per_node = std::max(machine.gpus_per_node, pes);
      for (Point& point : algorithm.family.points(Planning{algorithm, options, machine, pes})) {
        if (point.iterations < 1) throw UsageError("--iterations: at least 1 is needed");
        std::vector<Point>& own = points[point.variant];
        if (own.empty()) variants.push_back(point.variant);
        own.push_back(std::move(point));
      }
    }
  }
};

// Sizes that the user named, or else the family's own.
Shapes shapes_of(const Registry& registry, const Algorithm& algorithm, const Arguments& arguments) {
  const Arguments& takes = algorithm.family.takes;
  const bool sized = std::any_of(takes.begin(), takes.end(), [&](const std::string& name) {
    return name != "--variant" && says(arguments, name);
  });
  std::vector<Arguments> sizes = algorithm.family.small;
  if (sized || sizes.empty()) sizes = {{}};
  Shapes shapes;
  for (const Arguments& size : sizes) {
    Arguments all = arguments;
    for (std::size_t i = 0; i < size.size(); i += 2) take_option(all, size[i]);  // it knows better
    all.insert(all.end(), size.begin(), size.end());
    try {
      shapes.add(algorithm, parse_run(registry, all));
    } catch (const UsageError&) {  // the family's own, and not for so few PEs
      if (&size == &sizes.front()) throw;
    }
  }
  return shapes;
}

// The largest first: a search may not come to its end there. Three PEs, so that the
// next one is not the one before; two blocks, so that the next slot is not the same. A variant that
// cannot run on so few PEs has no proofs.
Shapes proof_shapes(const Registry& registry, const Algorithm& algorithm, Arguments arguments) {
  for (const char* const name : {"--pes", "--blocks", "--iterations"}) take_option(arguments, name);
  Shapes all;
  for (const Defaults& shape :
       {Defaults{"3", "2", "3"}, Defaults{"2", "2", "3"}, Defaults{"3", "1", "3"},
        Defaults{"2", "2", "2"}, Defaults{"3", "1", "2"}, Defaults{"2", "1", "2"}}) {
    try {
      Shapes some = shapes_of(registry, algorithm, completed(algorithm, arguments, shape));
      for (auto& [variant, points] : some.points) {
        auto& own = all.points[variant];
        own.insert(own.end(), points.begin(), points.end());
      }
    } catch (const UsageError&) {
      continue;
    }
  }
  return all;
}

}  // namespace

int mutate_command(const Invocation& invocation, const std::vector<std::string>& given) {
  Arguments arguments = given;
  if (says(arguments, "--help") || says(arguments, "-h")) {
    fmt::print("{}", help);
    return 0;
  }
  refuse_empty(arguments);
  const std::string expect = take_option(arguments, "--expect");
  MutateOptions options;
  options.proof_seconds =
      parse_number(take_option(arguments, "--proof-seconds"), options.proof_seconds,
                   "a number of seconds, as --proof-seconds 10 (0: none)");
  const double least = parse_number(take_option(arguments, "--min-score"), 0,
                                    "percent of the mutants of a group, as --min-score 95");
  if (least > 100)
    throw UsageError("--min-score: at most 100 percent of the mutants of a group can be killed");
  if (arguments.empty() || arguments.front().starts_with("-"))
    throw UsageError("mutate: name an algorithm first (sym list shows all)");
  const Algorithm& algorithm = invocation.registry.find(arguments.front());
  if (!algorithm.fiber) throw Unavailable("mutate: " + algorithm.name + " was built without check");
  const Arguments all = completed(algorithm, arguments, {"4", "2", "3"});
  const RunOptions run = parse_run(invocation.registry, all);
  options.schedule = run.schedule;
  options.seed = run.seed;
  require_files(run, expect, algorithm.name);
  const Shapes shapes = shapes_of(invocation.registry, algorithm, all);
  const Shapes proofs = proof_shapes(invocation.registry, algorithm, arguments);
  std::vector<VariantResult> results;
  for (const std::string& variant : shapes.variants) {
    const auto small = proofs.points.find(variant);
    results.push_back(
        run_mutants(algorithm, shapes.points.at(variant),
                    small == proofs.points.end() ? std::vector<Point>{} : small->second, options));
    print_mutants(algorithm.name, results.back());
  }
  print_score(algorithm.name, results);
  if (!run.csv.empty()) write_mutants_csv(run.csv, algorithm.name, results);
  if (!run.json.empty()) write_mutants_json(run.json, algorithm.name, results);
  const auto below = groups_below(least, results);
  for (const std::string& line : below) fmt::print("# BELOW {} % {}\n", least, line);
  const auto lost =
      expect.empty() ? std::vector<std::string>{} : lost_kills(expect, algorithm.name, results);
  for (const std::string& line : lost) fmt::print("# LOST {}\n", line);
  return lost.empty() && below.empty() ? 0 : 1;
}

}  // namespace sym::command
