#include "core/gemm/tiling.hpp"

#include <algorithm>
#include <limits>

#include "core/error.hpp"

namespace sym::gemm {

namespace {
void require_axis(const char* axis, const Cuts& cuts, int parts) {
  const std::string name = std::string("gemm: ") + axis;
  if (cuts.at.size() < 2 || cuts.at.front() != 0 ||
      !std::is_sorted(cuts.at.begin(), cuts.at.end())) {
    throw UsageError(name + "'s cut points must begin with 0 and not descend");
  }
  if (cuts.extent() == 0) throw UsageError(name + " is 0; m, n and k are at least 1");
  if (cuts.parts() != parts) {
    throw UsageError(name + " is cut to " + std::to_string(cuts.parts()) +
                     " parts; the schedule has " + std::to_string(parts));
  }
}
}  // namespace

Cuts even_cuts(std::size_t extent, int parts, std::size_t unit) {
  if (parts < 1) throw UsageError("gemm: an axis is cut to at least 1 part");
  if (unit < 1) throw UsageError("gemm: the unit of cut points is at least 1");
  Cuts cuts;
  cuts.at = {0};
  for (int i = 0; i < parts; ++i) cuts.at.push_back(chunk(Range{0, extent}, i, parts, unit).end());
  return cuts;
}

Tiling even_tiling(const Extent& extent, const Parts& parts, std::size_t unit) {
  Tiling tiling{even_cuts(extent.m, parts.m, unit), even_cuts(extent.n, parts.n, unit),
                even_cuts(extent.k, parts.k, unit)};
  require_tiling(tiling, parts);
  return tiling;
}

void require_tiling(const Tiling& tiling, const Parts& parts) {
  require_axis("m", tiling.m, parts.m);
  require_axis("n", tiling.n, parts.n);
  require_axis("k", tiling.k, parts.k);
  // Bytes of a matrix, and the operations of the product, are counted in 64 bits.
  const Extent e = tiling.extent();
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max() / 16;
  const auto fits = [](std::size_t x, std::size_t y) { return x <= most / y; };
  if (!fits(e.m, e.k) || !fits(e.n, e.k) || !fits(e.m, e.n) || !fits(e.m * e.n, e.k)) {
    throw UsageError("gemm: " + std::to_string(e.m) + " x " + std::to_string(e.n) + " x " +
                     std::to_string(e.k) + " has more elements or operations than 64 bits count");
  }
}

std::string text_of(const Tile& tile) {
  return "(" + std::to_string(tile.m) + ", " + std::to_string(tile.n) + ", " +
         std::to_string(tile.k) + ")";
}

}  // namespace sym::gemm
