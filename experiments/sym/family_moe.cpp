// The points of all_to_all_v and of the MoE exchange.
#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"
#include "core/moe/experts.hpp"
#include "experiments/sym/families.hpp"
#include "experiments/sym/registry.hpp"

namespace sym::command {

namespace {

void require_row(const RunOptions& options) {
  if (options.hidden == 0) throw UsageError("--hidden 0: a row has at least 1 element");
  constexpr std::size_t most = std::size_t{1} << 31;  // so that products of three fit 64 bits
  const std::size_t tokens = *std::max_element(options.tokens.begin(), options.tokens.end());
  if (options.hidden >= most || tokens >= most) {
    throw UsageError(
        fmt::format("--tokens {} --hidden {}: each is less than {}", tokens, options.hidden, most));
  }
}

// Rows to everywhere keep every SM busy: as many blocks as a GPU has for this PE, where neither the
// user nor a host backend has another number.
void spread(Point& point, const Planning& planning) {
  const RunOptions& options = planning.options;
  if (options.blocks > 0 || options.backend == "check" || options.backend == "thread") return;
  const int sms = static_cast<int>(
      planning.machine.number_or("sms", planning.machine.number("default_blocks")));
  const int sharing = options.gpus > 0 ? (point.pes + options.gpus - 1) / options.gpus : 1;
  point.blocks = blocks_for(point.bytes, point.threads, std::max(1, sms / sharing));
}

std::vector<Point> all_to_all_v_points(const Planning& planning) {
  const RunOptions& options = planning.options;
  require_row(options);
  for (const std::string& name : options.splits) require_name("splits", name, splits_names());
  std::vector<Point> points;
  for (const std::size_t tokens : options.tokens) {
    for (const std::string& splits : options.splits) {
      const std::size_t bytes = tokens * options.hidden * dtype_bytes(options.dtype);
      for (const std::string& variant : planning.variants(planning.algorithm.variants.front())) {
        Point point = planning.point(variant, bytes);
        spread(point, planning);
        point.moe.tokens = tokens;
        point.moe.hidden = options.hidden;
        point.moe.capacity = options.capacity;
        point.moe.splits = splits;
        points.push_back(point);
      }
    }
  }
  return points;
}

std::vector<std::string> row_arguments(const Point& point) {
  std::vector<std::string> arguments{"--tokens", std::to_string(point.moe.tokens), "--hidden",
                                     std::to_string(point.moe.hidden)};
  if (point.moe.capacity != 0) {
    arguments.insert(arguments.end(), {"--capacity", std::to_string(point.moe.capacity)});
  }
  return arguments;
}

std::vector<std::string> all_to_all_v_arguments(const Point& point) {
  std::vector<std::string> arguments = row_arguments(point);
  arguments.insert(arguments.end(), {"--splits", point.moe.splits});
  return arguments;
}

void require_moe(const RunOptions& options) {
  require_row(options);
  if (options.experts < 1)
    throw UsageError(fmt::format("--experts {}: at least 1 is needed", options.experts));
  if (options.topk < 1)
    throw UsageError(fmt::format("--topk {}: at least 1 is needed", options.topk));
  if (options.topk > options.experts) {
    throw UsageError(
        fmt::format("--topk {} of --experts {}: a token goes to distinct experts, so "
                    "topk is at most the number of experts",
                    options.topk, options.experts));
  }
  if (static_cast<std::size_t>(options.experts) > most_experts) {
    throw UsageError(fmt::format("--experts {}: at most {}", options.experts, most_experts));
  }
  if (static_cast<std::size_t>(options.alignment) > 0x7fffffffU) {
    throw UsageError(fmt::format("--alignment {}: at most 2147483647", options.alignment));
  }
  if (options.alignment < 1)
    throw UsageError(
        "--alignment 0: rows of an expert begin at multiples of it, so it is at least 1");
  for (const std::string& name : options.routing) require_name("routing", name, routing_names());
}

// The windows of a PE: rows as many as can come, tokens and results.
std::size_t room(const Point& point) {
  MoeRequest request;
  request.max_tokens = point.moe.tokens;
  request.topk = static_cast<std::uint32_t>(point.moe.topk);
  request.experts = static_cast<std::uint32_t>(point.moe.experts);
  request.alignment = static_cast<std::uint32_t>(point.moe.alignment);
  const std::size_t rows =
      point.moe.capacity != 0 ? point.moe.capacity : worst_rows(request, point.pes);
  return (rows + 2 * point.moe.tokens) * point.moe.hidden * dtype_bytes(point.dtype);
}

std::vector<Point> moe_points(const Planning& planning) {
  const RunOptions& options = planning.options;
  require_moe(options);
  std::vector<Point> points;
  for (const std::size_t tokens : options.tokens) {
    for (const std::string& routing : options.routing) {
      const std::size_t bytes = tokens * static_cast<std::size_t>(options.topk) * options.hidden *
                                dtype_bytes(options.dtype);
      for (const std::string& variant : planning.variants(planning.algorithm.variants.front())) {
        Point point = planning.point(variant, bytes);
        spread(point, planning);
        point.moe.tokens = tokens;
        point.moe.hidden = options.hidden;
        point.moe.experts = options.experts;
        point.moe.topk = options.topk;
        point.moe.capacity = options.capacity;
        point.moe.alignment = options.alignment;
        point.moe.routing = routing;
        point.heap_bytes = room(point);
        points.push_back(point);
      }
    }
  }
  return points;
}

std::vector<std::string> moe_arguments(const Point& point) {
  std::vector<std::string> arguments = row_arguments(point);
  arguments.insert(
      arguments.end(),
      {"--experts", std::to_string(point.moe.experts), "--topk", std::to_string(point.moe.topk),
       "--alignment", std::to_string(point.moe.alignment), "--routing", point.moe.routing});
  return arguments;
}

}  // namespace

const std::vector<std::string>& routing_names() {
  static const std::vector<std::string> names{"uniform", "one_expert", "skewed"};
  return names;
}

const std::vector<std::string>& splits_names() {
  static const std::vector<std::string> names{"uniform", "primes", "zero", "one_peer"};
  return names;
}

Family all_to_all_v_family() {
  Family family;
  family.takes = {"--tokens", "--hidden", "--capacity", "--splits", "--variant"};
  family.faults = {"skip=PE"};
  family.small = {{"--tokens", "12", "--hidden", "16"},
                  {"--tokens", "12", "--hidden", "16", "--splits", "one_peer"}};
  family.points = all_to_all_v_points;
  family.arguments = all_to_all_v_arguments;
  return family;
}

Family moe_family() {
  Family family;
  family.takes = {"--tokens", "--hidden",    "--capacity", "--experts",
                  "--topk",   "--alignment", "--routing",  "--variant"};
  family.faults = {"skip=PE", "bad_id", "nan_weight", "overflow"};
  const std::vector<std::string> tokens{"--tokens",  "6", "--hidden", "16",
                                        "--experts", "8", "--topk",   "2"};
  std::vector<std::string> aligned = tokens;
  aligned.insert(aligned.end(), {"--alignment", "4"});
  family.small = {tokens, aligned};
  family.points = moe_points;
  family.arguments = moe_arguments;
  return family;
}

}  // namespace sym::command
