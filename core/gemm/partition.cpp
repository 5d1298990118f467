#include "core/gemm/partition.hpp"

#include <algorithm>

namespace sym::gemm {

namespace {

int part_of(const Parts& parts, Which which, bool rows) {
  switch (which) {
    case Which::a:
      return rows ? parts.m : parts.k;
    case Which::b:
      return rows ? parts.n : parts.k;
    case Which::c:
      break;
  }
  return rows ? parts.m : parts.n;
}

const std::function<int(int, int)>& given(const Schedule& s, Which which) {
  return which == Which::a ? s.owner_a : which == Which::b ? s.owner_b : s.owner_c;
}

// The tile's place in the rank's matrix along one axis: what lies before it.
std::size_t before(const std::vector<int>& tiles, const Cuts& cuts, int tile) {
  std::size_t sum = 0;
  for (const int other : tiles) {
    if (other < tile) sum += cuts.size(other);
  }
  return sum;
}

void insert(std::vector<int>& sorted, int value) {
  const auto found = std::lower_bound(sorted.begin(), sorted.end(), value);
  if (found == sorted.end() || *found != value) sorted.insert(found, value);
}

}  // namespace

Axes axes_of(const Tiling& t, Which which) {
  switch (which) {
    case Which::a:
      return Axes{t.m, t.k};
    case Which::b:
      return Axes{t.n, t.k};
    case Which::c:
      break;
  }
  return Axes{t.m, t.n};
}

Table<int> owners_of(const Schedule& s, Which which) {
  Table<int> owners(part_of(s.parts, which, true), part_of(s.parts, which, false), -1);
  if (const auto& function = given(s, which)) {
    for (int row = 0; row < owners.rows(); ++row) {
      for (int col = 0; col < owners.cols(); ++col) owners(row, col) = function(row, col);
    }
    return owners;
  }
  for (int step = 0; step < s.steps; ++step) {
    for (int rank = 0; rank < s.pes; ++rank) {
      const std::optional<Tile> named = s.tile(rank, step);
      if (!named) continue;
      const Tile& tile = named.value();
      int& owner = which == Which::a   ? owners(tile.m, tile.k)
                   : which == Which::b ? owners(tile.n, tile.k)
                                       : owners(tile.m, tile.n);
      if (owner < 0 || which == Which::c) owner = rank;  // the first user; of C, the last
    }
  }
  return owners;
}

Partition::Partition(const Schedule& schedule, const Tiling& tiling, Which which)
    : rows_(axes_of(tiling, which).rows),
      cols_(axes_of(tiling, which).cols),
      owners_(owners_of(schedule, which)),
      held_(to_index(schedule.pes)) {
  for (int row = 0; row < owners_.rows(); ++row) {
    for (int col = 0; col < owners_.cols(); ++col) {
      Held& held = held_[to_index(owners_(row, col))];
      insert(held.row_tiles, row);
      insert(held.col_tiles, col);
    }
  }
  for (Held& held : held_) {
    for (const int row : held.row_tiles) held.rows += rows_.size(row);
    for (const int col : held.col_tiles) held.cols += cols_.size(col);
  }
}

Place Partition::place(int row_tile, int col_tile) const {
  const Held& held = held_[to_index(owner(row_tile, col_tile))];
  return Place{before(held.row_tiles, rows_, row_tile), before(held.col_tiles, cols_, col_tile),
               rows_.size(row_tile), cols_.size(col_tile)};
}

std::vector<Piece> Partition::pieces(int rank) const {
  std::vector<Piece> all;
  for (const int row : held_[to_index(rank)].row_tiles) {
    for (const int col : held_[to_index(rank)].col_tiles) {
      const Place where = place(row, col);
      if (where.count() == 0) continue;
      all.push_back({rows_.part(row).first, cols_.part(col).first, where});
    }
  }
  return all;
}

std::size_t Partition::capacity() const {
  std::size_t most = 0;
  for (const Held& held : held_) most = std::max(most, held.rows * held.cols);
  return most;
}

}  // namespace sym::gemm
