// Who holds which tiles of an operand, and where they lie in that rank's memory.
#pragma once

#include <string>
#include <vector>

#include "core/gemm/schedule.hpp"

namespace sym::gemm {

enum class Which { a, b, c };
inline constexpr Which all_operands[] = {Which::a, Which::b, Which::c};
constexpr const char* name_of(Which which) {
  return which == Which::a ? "A" : which == Which::b ? "B" : "C";
}

// The axes of an operand: A is m x k, B is n x k, C (and D) is m x n.
struct Axes {
  const Cuts& rows;
  const Cuts& cols;
};
Axes axes_of(const Tiling& tiling, Which which);

// A tile in its rank's matrix: first row, first column, size. In elements.
struct Place {
  std::size_t row = 0, col = 0, rows = 0, cols = 0;
  std::size_t count() const { return rows * cols; }
};

// What one rank holds of an operand: the row-major matrix of its tiles, rows and columns in
// ascending order of the operand's. `rows` by `cols` elements, without gaps; perhaps none.
struct Held {
  std::vector<int> row_tiles, col_tiles;  // ascending
  std::size_t rows = 0, cols = 0;
};

// One rectangle that lies in one piece both in the operand and in a rank's matrix.
struct Piece {
  std::size_t row = 0, col = 0;  // in the operand
  Place place;                   // in the rank's matrix
};

// The partition of one operand.
class Partition {
 public:
  Partition() = default;
  Partition(const Schedule& schedule, const Tiling& tiling, Which which);

  int owner(int row_tile, int col_tile) const { return owners_(row_tile, col_tile); }
  const Held& held(int rank) const { return held_[to_index(rank)]; }
  // Where the tile lies in its owner's matrix.
  Place place(int row_tile, int col_tile) const;
  // All that `rank` holds: how a program fills and reads a rank's matrix. Empty tiles are left out.
  std::vector<Piece> pieces(int rank) const;
  // Elements that a symmetric window for this operand must have: the most that any rank holds.
  std::size_t capacity() const;

 private:
  Cuts rows_, cols_;
  Table<int> owners_;
  std::vector<Held> held_;
};

// The matrix that `rank` holds, filled with value(row, col) of the operand.
template <class T, class F>
std::vector<T> held_values(const Partition& partition, int rank, F value) {
  const Held& held = partition.held(rank);
  std::vector<T> all(held.rows * held.cols);
  for (const Piece& piece : partition.pieces(rank)) {
    for (std::size_t row = 0; row < piece.place.rows; ++row) {
      for (std::size_t col = 0; col < piece.place.cols; ++col) {
        all[(piece.place.row + row) * held.cols + piece.place.col + col] =
            value(piece.row + row, piece.col + col);
      }
    }
  }
  return all;
}

// The owner of each tile, by the schedule's function or its default; -1 where no rank uses the
// tile. For check_schedule, which looks at it before a Partition may be made.
Table<int> owners_of(const Schedule& schedule, Which which);

}  // namespace sym::gemm
