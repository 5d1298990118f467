// tile_reduce: tiles of a matrix, each reduced over the team to a root of its own. What contiguous
// collectives cannot do: a tile is no contiguous memory, a root may have several, and those who are
// no root of a tile have nothing written there.
//
// Called by every block of a launch on every member, with equal tiles, op and grid.
#pragma once

#include "core/collective/apart.hpp"
#include "core/collective/barrier.hpp"
#include "core/matrix.hpp"

namespace sym {

// A part of a matrix, in elements.
struct Tile {
  std::size_t row = 0;
  std::size_t col = 0;
  std::size_t rows = 0;
  std::size_t cols = 0;

  friend constexpr bool operator==(const Tile&, const Tile&) = default;
};

// Tiles by root, as kernels read them: numbers 4k..4k+3 of `numbers` are row, column, rows and
// columns of tile k, and tiles firsts[r]..firsts[r+1]-1 are those of rank r. Made by tile_list
// (core/collective/tile_list.hpp), which cuts large tiles, so that blocks get equal work.
struct TileList {
  Window<std::uint64_t> numbers;  // control memory; the same on every PE
  Window<std::uint64_t> firsts;
};

namespace detail {
// Whether two matrices share no byte: they lie apart, or beside each other in the columns of one
// that has them both.
template <class T>
SYM_HD constexpr bool tiles_apart(const Matrix<T>& a, const Matrix<T>& b) {
  if (are_apart(Extent{a.data, a.span()}, Extent{b.data, b.span()})) return true;
  if (a.ld != b.ld || a.ld == 0) return false;
  const std::size_t pitch = a.ld * sizeof(T);
  const std::size_t from = a.data.offset_bytes, to = b.data.offset_bytes;
  const std::size_t shift = to >= from ? (to - from) % pitch : pitch - 1 - (from - to - 1) % pitch;
  return shift >= a.cols * sizeof(T) && shift + b.cols * sizeof(T) <= pitch;
}
}  // namespace detail

// out[tile] of each tile's root = op over the team, in rank order and rounded once, of in[tile]:
// the same bits for any grid. Blocks take turns at the root's tiles; each is read from every peer
// once. Nothing else of `out` is written. `in` and `out` are of equal shape, and the same or apart.
template <Block B, class T, class Op>
SYM_FN void tile_reduce(B& block, const Group& group, const TileList& tiles, Matrix<T> in,
                        Matrix<T> out, Op op) {
  const Extent source{in.data, in.span()}, result{out.data, out.span()};
  const bool same = are_same(source, result) && in.ld == out.ld;
  if (!block.require(same || detail::tiles_apart(in, out),
                     "the input of a collective is in its place, or does not overlap its output",
                     source.n, result.n))
    return;
  const auto rank = static_cast<std::size_t>(group.team.rank());
  const auto read = [&](Window<std::uint64_t> window, std::size_t i) {
    return static_cast<std::size_t>(block.read(window, i));
  };
  const std::size_t first = read(tiles.firsts, rank);
  const std::size_t end = read(tiles.firsts, rank + 1);
  if (!barrier(block, group)) return;  // inputs are ready
  for (std::size_t k = first + static_cast<std::size_t>(block.index()); k < end;
       k += static_cast<std::size_t>(block.count())) {
    const Tile tile{read(tiles.numbers, 4 * k), read(tiles.numbers, 4 * k + 1),
                    read(tiles.numbers, 4 * k + 2), read(tiles.numbers, 4 * k + 3)};
    block.reduce(out.part(tile.row, tile.col, tile.rows, tile.cols),
                 in.part(tile.row, tile.col, tile.rows, tile.cols), group.team, op);
  }
  barrier(block, group);  // inputs have been read
}

}  // namespace sym
