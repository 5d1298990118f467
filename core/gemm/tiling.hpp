// How the iteration space of D[m,n] = A[m,k] * transpose(B[n,k]) is cut to tiles: by explicit cut
// points along each axis, which need not be even. Standard library only; nothing here runs on GPUs.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/range.hpp"

namespace sym::gemm {

// Ranks, steps and tile indices are ints; containers want std::size_t.
constexpr std::size_t to_index(int i) { return static_cast<std::size_t>(i); }
constexpr int to_int(std::size_t i) { return static_cast<int>(i); }
// i modulo n in 0..n-1, also for negative i.
constexpr int wrapped(int i, int n) { return (i % n + n) % n; }

// A table with a row and a column index.
template <class T>
class Table {
 public:
  Table() = default;
  Table(int rows, int cols, T value = {})
      : rows_(rows), cols_(cols), cells_(to_index(rows) * to_index(cols), value) {}
  int rows() const { return rows_; }
  int cols() const { return cols_; }
  T& operator()(int row, int col) {
    return cells_[to_index(row) * to_index(cols_) + to_index(col)];
  }
  const T& operator()(int row, int col) const {
    return cells_[to_index(row) * to_index(cols_) + to_index(col)];
  }

 private:
  int rows_ = 0;
  int cols_ = 0;
  std::vector<T> cells_;
};

// Sizes in elements.
struct Extent {
  std::size_t m = 0, n = 0, k = 0;
};

// How many parts each axis is cut to.
struct Parts {
  int m = 1, n = 1, k = 1;
};

// One tile of the iteration space, by the index of its part along each axis. It multiplies tile
// (m, k) of A by tile (n, k) of B and adds to tile (m, n) of C.
struct Tile {
  int m = 0, n = 0, k = 0;
  friend bool operator==(const Tile&, const Tile&) = default;
};

// The cut points of one axis: 0, ascending, the axis' extent. Part i is [at[i], at[i + 1]) and may
// be empty; the axis may not.
struct Cuts {
  std::vector<std::size_t> at{0, 1};

  int parts() const { return to_int(at.size()) - 1; }
  std::size_t extent() const { return at.back(); }
  Range part(int index) const {
    return Range{at[to_index(index)], at[to_index(index) + 1] - at[to_index(index)]};
  }
  std::size_t size(int index) const { return part(index).count; }
  bool empty(int index) const { return size(index) == 0; }
};

// Parts whose sizes differ by at most one unit of `unit` elements (range.hpp, chunk).
Cuts even_cuts(std::size_t extent, int parts, std::size_t unit = 1);

struct Tiling {
  Cuts m, n, k;

  Extent extent() const { return Extent{m.extent(), n.extent(), k.extent()}; }
  Parts parts() const { return Parts{m.parts(), n.parts(), k.parts()}; }
  // Nothing is to be done for an empty tile: no plan has a stage for it.
  bool empty(const Tile& t) const { return m.empty(t.m) || n.empty(t.n) || k.empty(t.k); }
};

// The same cuts along every axis. A unit of 8 keeps rows of 2-byte elements aligned to 16 bytes,
// which GPUs multiply fastest, where the sizes allow.
Tiling even_tiling(const Extent& extent, const Parts& parts, std::size_t unit = 1);

// Throws UsageError, naming the axis, unless each axis has cut points from 0 up to at least 1 that
// do not descend, and as many parts as `parts` says, and sizes and operations fit 64 bits.
void require_tiling(const Tiling& tiling, const Parts& parts);

// "(m, n, k)", for sentences.
std::string text_of(const Tile& tile);

}  // namespace sym::gemm
