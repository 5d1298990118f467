// The points of all_reduce_rms_norm and of tile_reduce.
#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"
#include "core/range.hpp"
#include "experiments/sym/families.hpp"
#include "experiments/sym/registry.hpp"
#include "models/choose.hpp"

namespace sym::command {

namespace {

// SMs of a GPU for one PE, where neither the user nor a host backend has another number.
int most_blocks(const Planning& planning, int of_point) {
  const RunOptions& options = planning.options;
  if (options.blocks > 0 || options.backend == "check" || options.backend == "thread")
    return of_point;
  const int sms = static_cast<int>(
      planning.machine.number_or("sms", planning.machine.number("default_blocks")));
  const int sharing = options.gpus > 0 ? (planning.pes + options.gpus - 1) / options.gpus : 1;
  return std::max(1, sms / sharing);
}

// --- all_reduce_rms_norm ---

void require_rows(const RunOptions& options) {
  if (options.hidden == 0) throw UsageError("--hidden 0: a row has at least 1 element");
  constexpr std::size_t most_hidden = 16384;  // so that a row and the weights are a block's scratch
  if (options.hidden > most_hidden) {
    throw UsageError(fmt::format("--hidden {}: rows of at most {} elements are normalised",
                                 options.hidden, most_hidden));
  }
  constexpr std::size_t most = std::size_t{1} << 31;
  for (const std::size_t rows : options.tokens) {
    if (rows >= most) throw UsageError(fmt::format("--tokens {}: less than {}", rows, most));
  }
}

// A block for each row, as far as there are SMs, and of two_shot for each row of a PE; lanes enough
// to take a row in as few passes as a full block would, and no more.
void shape_blocks(Point& point, const Planning& planning) {
  const std::size_t rows = point.moe.tokens;
  const auto pes = static_cast<std::size_t>(point.pes);
  const std::size_t shared = point.variant == "two_shot" ? (rows + pes - 1) / pes : rows;
  if (planning.options.blocks == 0) {
    const auto most = static_cast<std::size_t>(most_blocks(planning, point.blocks));
    point.blocks = static_cast<int>(std::clamp<std::size_t>(shared, 1, most));
  }
  if (planning.options.threads > 0) return;
  constexpr auto full = static_cast<std::size_t>(most_threads);
  const std::size_t bytes = point.moe.hidden * dtype_bytes(point.dtype);
  const std::size_t groups = std::max<std::size_t>(1, (bytes + 15) / 16);
  const std::size_t passes = (groups + full - 1) / full;
  const std::size_t lanes = (groups + passes - 1) / passes;
  point.threads = static_cast<int>((lanes + 31) / 32 * 32);
}

// What `auto` means: as the all-reduce alone, of the two ways that are fused.
std::string variant_of_sum(const Planning& planning, std::size_t bytes) {
  models::Menu menu;
  menu.variants = {"one_shot", "two_shot"};
  menu.most_blocks = menu.packet_blocks = most_blocks(planning, 1);
  const models::Job job{"all_reduce", planning.pes, static_cast<double>(bytes)};
  const std::string chosen = models::choose(planning.machine, job, menu).variant;
  return chosen == "one_shot" ? chosen : "two_shot";
}

std::vector<Point> norm_points(const Planning& planning) {
  const RunOptions& options = planning.options;
  require_rows(options);
  std::vector<Point> points;
  for (const std::size_t rows : options.tokens) {
    const std::size_t bytes = rows * options.hidden * dtype_bytes(options.dtype);
    for (const std::string& variant : planning.variants(variant_of_sum(planning, bytes))) {
      Point point = planning.point(variant, bytes);
      point.moe.tokens = rows;
      point.moe.hidden = options.hidden;
      point.residual = options.residual;
      point.data = options.data;
      shape_blocks(point, planning);
      points.push_back(point);
    }
  }
  return points;
}

std::vector<std::string> norm_arguments(const Point& point) {
  std::vector<std::string> arguments{"--tokens", std::to_string(point.moe.tokens),
                                     "--hidden", std::to_string(point.moe.hidden),
                                     "--data",   point.data};
  if (point.residual) arguments.emplace_back("--residual");
  return arguments;
}

// --- tile_reduce ---

// A list of them lies on every PE, and is sorted.
void require_few_tiles(const RunOptions& options, const gemm::Grid& tile) {
  constexpr std::size_t most = std::size_t{1} << 20;
  const auto cut = [](std::size_t all, int one) {
    return (all + static_cast<std::size_t>(one) - 1) / static_cast<std::size_t>(one);
  };
  const std::size_t tiles = cut(options.rows, tile.rows) * cut(options.cols, tile.cols);
  if (tiles > most) {
    throw UsageError(
        fmt::format("--tile {}x{}: {} tiles of a matrix of {} x {}; at most {} are taken",
                    tile.rows, tile.cols, tiles, options.rows, options.cols, most));
  }
}

std::vector<Point> tile_points(const Planning& planning) {
  const RunOptions& options = planning.options;
  constexpr std::size_t most = std::size_t{1} << 31;
  if (options.rows >= most || options.cols >= most) {
    throw UsageError(
        fmt::format("--rows {} --cols {}: each is less than {}", options.rows, options.cols, most));
  }
  const std::size_t bytes = options.rows * options.cols * dtype_bytes(options.dtype);
  std::vector<Point> points;
  for (const std::string& text : options.tiles) {
    const gemm::Grid tile = parse_tile(text);
    require_few_tiles(options, tile);
    for (const std::string& variant : planning.variants(planning.algorithm.variants.front())) {
      Point point = planning.point(variant, bytes);
      point.op = options.op;
      point.data = options.data;
      point.tile = {options.rows, options.cols, static_cast<std::size_t>(tile.rows),
                    static_cast<std::size_t>(tile.cols)};
      if (options.blocks == 0) {
        point.blocks = blocks_for(bytes / static_cast<std::size_t>(point.pes), point.threads,
                                  most_blocks(planning, point.blocks));
      }
      point.heap_bytes = 2 * bytes;
      points.push_back(point);
    }
  }
  return points;
}

std::vector<std::string> tile_arguments(const Point& point) {
  const TilePoint& t = point.tile;
  return {"--rows", std::to_string(t.rows),
          "--cols", std::to_string(t.cols),
          "--tile", fmt::format("{}x{}", t.tile_rows, t.tile_cols),
          "--op",   point.op,
          "--data", point.data};
}

}  // namespace

gemm::Grid parse_tile(const std::string& text) {
  try {
    const gemm::Grid tile = parse_grid(text);
    if (tile.rows > 0) return tile;
  } catch (const UsageError&) {
  }
  throw UsageError(fmt::format("--tile '{}' is no tile; write ROWSxCOLUMNS, as 128x128", text));
}

Family norm_family() {
  Family family;
  family.takes = {"--tokens", "--hidden", "--residual", "--data", "--variant"};
  family.faults = {"skip=PE", "count=PE"};
  const std::vector<std::string> rows{"--tokens", "5", "--hidden", "24"};
  family.small = {rows, {"--tokens", "9", "--hidden", "17", "--residual", "--blocks", "2"}};
  family.points = norm_points;
  family.arguments = norm_arguments;
  family.equal_outputs = true;
  family.has_baseline = true;
  family.normalises = true;
  return family;
}

Family tile_family() {
  Family family;
  family.takes = {"--rows", "--cols", "--tile", "--op", "--data", "--variant"};
  family.faults = {"skip=PE", "count=PE"};
  family.small = {{"--rows", "20", "--cols", "37", "--tile", "8x16"},
                  {"--rows", "20", "--cols", "24", "--tile", "4x8", "--blocks", "2"}};
  family.points = tile_points;
  family.arguments = tile_arguments;
  family.has_baseline = true;
  return family;
}

}  // namespace sym::command
