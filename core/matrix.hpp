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

// n elements of a window from `first` on, as a matrix of one row.
template <class T>
SYM_HD constexpr Matrix<T> row_of(Window<T> window, std::size_t first, std::size_t n) {
  return Matrix<T>{window.at(first), 1, n, n};
}

}  // namespace sym
