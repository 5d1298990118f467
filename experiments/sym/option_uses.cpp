#include "experiments/sym/option_uses.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/error.hpp"

namespace sym::command {

namespace {

using Words = std::vector<std::string>;

bool is_one_of(const Words& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// An option, and the backends that make use of it.
const std::vector<std::pair<std::string, Words>>& backends_of_options() {
  static const Words check{"check"}, sim{"sim"}, cuda{"cuda"}, timed{"thread", "cuda"};
  static const std::vector<std::pair<std::string, Words>> all{
      {"--no-data", sim},   {"--check", sim},        {"--blocks-exact", sim},
      {"--what-if", sim},   {"--flavour", sim},      {"--network", sim},
      {"--trace", sim},     {"--band", sim},         {"--jitter", sim},
      {"--placement", sim}, {"--concurrent", sim},   {"--coverage", check},
      {"--depth", check},   {"--bound", check},      {"--knobs", check},
      {"--budget", check},  {"--time-limit", check}, {"--resident", check},
      {"--graph", timed},   {"-n", timed},           {"--wait-ms", timed},
      {"--gpus", cuda},     {"--threads", cuda}};
  return all;
}

// Variants by what they make use of.
const std::map<std::string, Words>& variants_of_options() {
  static const std::map<std::string, Words> all{
      {"--per-node",
       {"hierarchical", "hierarchical_ring", "hierarchical_hd", "hierarchical_tree", "nvls_tree",
        "two_hop"}},
      {"--pieces",
       {"push", "staged", "ring_pipelined", "double_tree", "hierarchical_tree", "nvls_tree"}},
      {"--head", {"copy_engine"}}};
  return all;
}

// What is wrong with the option here, and where it would be right; "": it has an effect.
std::string why_unused(const std::string& option, const Algorithm& algorithm,
                       const std::vector<Point>& points) {
  const auto is_one_used = [&option](const Point& point) { return is_used(option, point); };
  if (option == "--op" && !algorithm.has_op)
    return algorithm.name + " reduces nothing; all_reduce, reduce_scatter and tile_reduce do";
  if (option == "--blocks" && !algorithm.family.schedules.empty())
    return "the products of " + algorithm.name + " choose their own";
  if (std::any_of(points.begin(), points.end(), is_one_used)) return "";
  if (option == "--root") return "broadcast alone has a root";
  if (option == "--grid") return "schedule cannon alone has one";
  const auto variants = variants_of_options().find(option);
  if (variants == variants_of_options().end()) return "";
  std::set<std::string> run;
  for (const Point& point : points) run.insert(point.variant);
  return fmt::format("this is {} {}; it is of variant {}", algorithm.name, fmt::join(run, ", "),
                     fmt::join(variants->second, ", "));
}

}  // namespace

bool is_used(const std::string& option, const Point& point) {
  static const Words known{"all_reduce", "all_gather", "reduce_scatter",
                           "all_to_all", "broadcast",  "gemm"};
  if (!is_one_of(known, point.algorithm)) return true;  // somebody's own
  if (option == "--root") return point.algorithm == "broadcast";
  if (option == "--grid") return point.variant == "cannon";
  const auto variants = variants_of_options().find(option);
  return variants == variants_of_options().end() || is_one_of(variants->second, point.variant);
}

void require_uses_of_backend(const RunOptions& options) {
  for (const auto& [option, backends] : backends_of_options()) {
    if (!is_one_of(options.given, option) || is_one_of(backends, options.backend)) continue;
    throw UsageError(fmt::format("{} goes with --backend {}{}", option, fmt::join(backends, " or "),
                                 backends.size() == 1 ? " alone" : "; this is " + options.backend));
  }
  if (!options.csv.empty() && options.csv == options.json)
    throw UsageError("--csv and --json both name " + options.csv + "; each has a file of its own");
  if (options.backend == "sim" && options.iterations > 1) {
    throw UsageError(fmt::format(
        "--iterations {}: sim runs one launch, because each takes the same", options.iterations));
  }
  if (options.no_data) {
    for (const char* option : {"-c", "--data"}) {
      if (is_one_of(options.given, option))
        throw UsageError(std::string(option) +
                         " is about data, and --no-data says that there are none");
    }
  }
}

void require_uses_of_points(const RunOptions& options, const Algorithm& algorithm,
                            const std::vector<Point>& points) {
  if (points.empty()) return;
  for (const std::string& option : options.given) {
    const std::string why = why_unused(option, algorithm, points);
    if (!why.empty()) throw UsageError(option + " has no effect here: " + why);
  }
}

}  // namespace sym::command
