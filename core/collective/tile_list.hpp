// tile_list: which tiles of a matrix go to whom, checked and laid out for tile_reduce. Host code.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "core/collective/tile_reduce.hpp"
#include "core/world.hpp"

namespace sym {

struct RootedTile {
  Tile tile;
  int root = 0;  // a rank of the team
};

// What a list is about. Elements; equal on all members.
struct TileShape {
  std::size_t rows = 0;
  std::size_t cols = 0;
  std::size_t element_bytes = 1;
  int ranks = 1;
  bool one_a_root = false;  // refuse a root that is named twice
  // A tile is handed to blocks in bands of whole rows of about so many bytes.
  std::size_t band_bytes = std::size_t{64} << 10;
};

namespace detail {
inline std::string text_of(const Tile& tile) {
  return "rows " + std::to_string(tile.row) + " to " + std::to_string(tile.row + tile.rows) +
         ", columns " + std::to_string(tile.col) + " to " + std::to_string(tile.col + tile.cols);
}

inline void require_tile(const TileShape& shape, const RootedTile& one) {
  const Tile& t = one.tile;
  if (one.root < 0 || one.root >= shape.ranks) {
    throw UsageError("tile_reduce: root " + std::to_string(one.root) + " is no rank of " +
                     std::to_string(shape.ranks) + " PEs");
  }
  const bool inside = t.row <= shape.rows && t.rows <= shape.rows - t.row && t.col <= shape.cols &&
                      t.cols <= shape.cols - t.col;
  if (inside) return;
  throw UsageError("tile_reduce: a tile of " + text_of(t) + " lies outside its matrix of " +
                   std::to_string(shape.rows) + " x " + std::to_string(shape.cols));
}

// Sweeps down the rows: tiles that are open at a row may not share a column. `tiles` by first row.
inline void require_apart(const std::vector<RootedTile>& tiles) {
  std::vector<Tile> open;  // by first column
  for (const auto& [tile, root] : tiles) {
    if (tile.rows == 0 || tile.cols == 0) continue;
    const std::size_t top = tile.row;
    const std::size_t left = tile.col;
    std::erase_if(open, [&](const Tile& t) { return t.row + t.rows <= top; });
    const auto ends_behind = [&](const Tile& t) { return t.col + t.cols > left; };
    const auto behind = std::find_if(open.begin(), open.end(), ends_behind);
    if (behind != open.end()) {
      const Tile other = *behind;
      if (other == tile)
        throw UsageError("tile_reduce: the tile of " + text_of(tile) + " is named twice");
      if (other.col < tile.col + tile.cols) {
        throw UsageError("tile_reduce: the tiles of " + text_of(other) + " and of " +
                         text_of(tile) + " overlap");
      }
    }
    open.insert(behind, tile);
  }
}

inline void require_single(const std::vector<RootedTile>& tiles, int ranks) {
  std::vector<int> named(static_cast<std::size_t>(ranks));
  for (const RootedTile& one : tiles) {
    if (++named[static_cast<std::size_t>(one.root)] < 2) continue;
    throw UsageError("tile_reduce: root " + std::to_string(one.root) +
                     " is named twice, where each root has one tile (multi_root_tile_reduce takes "
                     "several)");
  }
}
}  // namespace detail

// The bands of all tiles by root, in the order given: what the blocks share. Throws UsageError for
// elements of no bytes, a tile outside the matrix, a root that is no rank or is named twice where
// it may not be, and for tiles that overlap.
inline std::vector<RootedTile> tile_bands(const TileShape& shape, std::vector<RootedTile> tiles) {
  if (shape.element_bytes == 0 || shape.ranks < 1) {
    throw UsageError("tile_reduce: elements of " + std::to_string(shape.element_bytes) +
                     " bytes on " + std::to_string(shape.ranks) +
                     " PEs; an element has a byte or more, and a team a PE or more");
  }
  for (const RootedTile& one : tiles) detail::require_tile(shape, one);
  if (shape.one_a_root) detail::require_single(tiles, shape.ranks);
  std::vector<RootedTile> sorted = tiles;
  std::stable_sort(sorted.begin(), sorted.end(), [](const RootedTile& a, const RootedTile& b) {
    return a.tile.row < b.tile.row;
  });
  detail::require_apart(sorted);
  std::stable_sort(tiles.begin(), tiles.end(),
                   [](const RootedTile& a, const RootedTile& b) { return a.root < b.root; });
  std::vector<RootedTile> bands;
  for (const RootedTile& one : tiles) {
    const Tile& t = one.tile;
    if (t.rows == 0 || t.cols == 0) continue;
    const std::size_t fit = shape.band_bytes / (t.cols * shape.element_bytes);
    const std::size_t height = std::max<std::size_t>(1, fit);
    for (std::size_t done = 0; done < t.rows; done += height) {
      bands.push_back({{t.row + done, t.col, std::min(height, t.rows - done), t.cols}, one.root});
    }
  }
  return bands;
}

// [collective] `tiles` is equal on all PEs. The list lives until free_tile_list.
template <World W>
TileList tile_list(W& world, const TileShape& shape, const std::vector<RootedTile>& tiles) {
  const std::vector<RootedTile> bands = tile_bands(shape, tiles);
  std::vector<std::uint64_t> numbers{0, 0, 0, 0};
  std::vector<std::uint64_t> firsts(static_cast<std::size_t>(shape.ranks) + 1);
  if (!bands.empty()) numbers.clear();
  for (const RootedTile& band : bands) {
    const Tile& t = band.tile;
    numbers.insert(numbers.end(), {t.row, t.col, t.rows, t.cols});
    ++firsts[static_cast<std::size_t>(band.root) + 1];
  }
  for (std::size_t r = 1; r < firsts.size(); ++r) firsts[r] += firsts[r - 1];
  TileList list;
  list.numbers = world.template allocate_control<std::uint64_t>(numbers.size());
  list.firsts = world.template allocate_control<std::uint64_t>(firsts.size());
  world.write(list.numbers, std::to_address(numbers.begin()), numbers.size());
  world.write(list.firsts, std::to_address(firsts.begin()), firsts.size());
  return list;
}
template <World W>
void free_tile_list(W& world, const TileList& list) {
  world.free(list.numbers);
  world.free(list.firsts);
}

// A number for the tiles, for operation_tag: PEs that come with other tiles are a mismatch.
inline std::uint64_t tiles_number(const std::vector<RootedTile>& tiles) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (const RootedTile& one : tiles) {
    const Tile& t = one.tile;
    for (std::uint64_t part : {std::uint64_t{t.row}, std::uint64_t{t.col}, std::uint64_t{t.rows},
                               std::uint64_t{t.cols}, static_cast<std::uint64_t>(one.root)}) {
      hash = (hash ^ part) * 1099511628211ULL;
      hash ^= hash >> 29;
    }
  }
  return hash;
}

}  // namespace sym
