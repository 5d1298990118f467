// Matrix: rows of a window, with a distance between them. What Queue and the tile form of reduce
// name.
#pragma once

#include <cstddef>

#include "core/window.hpp"

namespace sym {

// `rows` by `cols` elements of a window, row-major with `ld` elements from row to row (ld >= cols).
template <class T>
struct Matrix {
  Window<T> data;
  std::size_t rows = 0;
  std::size_t cols = 0;
  std::size_t ld = 0;

  // Elements from the first to the last, those between the rows' ends included.
  SYM_HD constexpr std::size_t span() const {
    return rows == 0 || cols == 0 ? 0 : (rows - 1) * ld + cols;
  }
  // The part whose top left element is (row, col).
  SYM_HD constexpr Matrix part(std::size_t row, std::size_t col, std::size_t n_rows,
                               std::size_t n_cols) const {
    return Matrix{data.at(row * ld + col), n_rows, n_cols, ld};
  }
};

// Whether the two are the same elements of one PE, in the same places.
template <class T>
constexpr bool same_place(const Matrix<T>& x, const Matrix<T>& y) {
  return x.data.segment == y.data.segment && x.data.offset_bytes == y.data.offset_bytes &&
         x.rows == y.rows && x.cols == y.cols && (x.ld == y.ld || x.rows <= 1);
}

// Whether some element of the one has a byte of the other, both on one PE; what lies between their
// rows is nobody's.
template <class T>
constexpr bool overlap(const Matrix<T>& x, const Matrix<T>& y) {
  if (x.data.segment != y.data.segment || x.span() == 0 || y.span() == 0) return false;
  const std::size_t row_bytes = y.cols * sizeof(T);
  const std::size_t pitch_bytes = y.ld * sizeof(T);
  for (std::size_t row = 0; row < x.rows; ++row) {
    const std::size_t begin = x.data.offset_bytes + row * x.ld * sizeof(T);
    const std::size_t first_end = y.data.offset_bytes + row_bytes;
    // The first row of y that ends behind `begin`.
    const std::size_t other = begin < first_end ? 0 : (begin - first_end) / pitch_bytes + 1;
    if (other < y.rows && y.data.offset_bytes + other * pitch_bytes < begin + x.cols * sizeof(T)) {
      return true;
    }
  }
  return false;
}

// n elements of a window from `first` on, as a matrix of one row.
template <class T>
SYM_HD constexpr Matrix<T> row_of(Window<T> window, std::size_t first, std::size_t n) {
  return Matrix<T>{window.at(first), 1, n, n};
}

}  // namespace sym
