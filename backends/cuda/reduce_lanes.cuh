// What the lanes of a block do for reductions that do more than reduce a range: with an element
// function behind the sum, and of tiles.
#pragma once

#include "backends/cuda/lanes.cuh"

namespace sym::cuda {

// dst[first, first + n) = f(op over ranks 0..ranks-1 of from(rank)[first..], more[first..]...).
template <int n, bool wide, class D, class From, class Op, class F, class... V>
__device__ __forceinline__ void reduce_map_group(D dst, std::size_t first, int ranks, From from,
                                                 Op op, F& f, V... more) {
  using T = typename D::value_type;
  using P = PackOf<T, n, wide>;
  const auto others = ViewPacks<n, wide, V...>::load(first, more...);
  constexpr int at_once = 4;  // peers; other lanes are at other groups meanwhile
  Accumulator<T> total[n];
#pragma unroll 1
  for (int r = 0; r < ranks; r += at_once) {
    P pack[at_once];
#pragma unroll
    for (int k = 0; k < at_once; ++k) {
      if (r + k < ranks) pack[k] = P::load(from(r + k) + first);
    }
#pragma unroll
    for (int k = 0; k < at_once; ++k) {
      if (r + k < ranks) take(total, pack[k], r + k == 0, op);
    }
  }
#pragma unroll
  for (int i = 0; i < n; ++i) {
    total[i] = static_cast<Accumulator<T>>(others.apply(f, i, op.finish(total[i], ranks)));
  }
  store_pack(dst, first, P::of(total));
}

// The same for a range. `from` gives the address of a rank's operand; `aligned` says that every one
// of them is aligned for wide access.
template <class D, class From, class Op, class F, class... V>
__device__ __forceinline__ void reduce_map_lanes(D dst, std::size_t count, int ranks, bool aligned,
                                                 From from, Op op, F f, V... more) {
  using T = typename D::value_type;
  constexpr int n = Shared<T>::elements;
  const Shared<T> shared(count);
  const bool wide = (assume_wide || aligned) && view_fits<n>(dst) && (view_fits<n>(more) && ...);
  if (wide) {
#pragma unroll 1
    for (std::size_t g = threadIdx.x; g < shared.groups; g += blockDim.x) {
      reduce_map_group<n, true>(dst, g * n, ranks, from, op, f, more...);
    }
  }
  each_group(shared, wide, [&](std::size_t first, int elements) {
#pragma unroll 1
    for (int i = 0; i < elements; ++i) {
      reduce_map_group<1, false>(dst, first + i, ranks, from, op, f, more...);
    }
  });
}

// One lane's way through a tile of rows of `per_row` groups: every blockDim.x-th group, and at each
// of them every rank.
struct TileCursor {
  std::size_t row;
  unsigned col;  // in groups
  int rank = 0;

  __device__ __forceinline__ explicit TileCursor(unsigned per_row)
      : row(threadIdx.x / per_row), col(threadIdx.x % per_row) {}
  __device__ __forceinline__ void next(unsigned per_row, unsigned row_step, unsigned col_step,
                                       int ranks) {
    if (++rank < ranks) return;
    rank = 0;
    row += row_step;
    col += col_step;
    if (col < per_row) return;
    col -= per_row;
    ++row;
  }
};

// Rows of a tile of which `per_row` groups of n elements each are reduced.
template <class T>
struct TileRows {
  T* dst;
  std::size_t dst_ld, src_ld;
  std::size_t rows;
  unsigned per_row;
};

// dst's groups = op over ranks of from(rank)'s. A lane's operands are one sequence, group by group
// and in each rank by rank: `depth` of them are in flight whatever the number of ranks.
template <class P, int n, class T, class From, class Op>
__device__ __forceinline__ void reduce_tile_groups(const TileRows<T>& tile, int ranks, From from,
                                                   Op op) {
  constexpr int depth = 8;
  const unsigned row_step = blockDim.x / tile.per_row;
  const unsigned col_step = blockDim.x % tile.per_row;
  TileCursor ahead(tile.per_row);
  TileCursor here = ahead;
  Accumulator<T> total[n];
#pragma unroll 1
  while (here.row < tile.rows) {
    P pack[depth];
#pragma unroll
    for (int k = 0; k < depth; ++k) {
      if (ahead.row < tile.rows) {
        pack[k] = P::load(from(ahead.rank) + ahead.row * tile.src_ld + ahead.col * n);
      }
      ahead.next(tile.per_row, row_step, col_step, ranks);
    }
    if (ranks == 0) break;  // never: ends the basic block, or ptxas sinks loads among the sums
#pragma unroll
    for (int k = 0; k < depth; ++k) {
      if (here.row < tile.rows) {
        take(total, pack[k], here.rank == 0, op);
        if (here.rank == ranks - 1) {
          finish<P>(tile.dst + here.row * tile.dst_ld + here.col * n, total, ranks, op);
        }
      }
      here.next(tile.per_row, row_step, col_step, ranks);
    }
  }
}

// dst[r, c] = op over ranks of from(rank)[r, c], for `cols` elements of each row: by wide accesses
// where every row of every operand is `aligned`, but for what is left of a row behind its last
// whole group.
template <class T, class From, class Op>
__device__ __forceinline__ void reduce_tile_lanes(TileRows<T> tile, std::size_t cols, bool aligned,
                                                  int ranks, From from, Op op) {
  constexpr int n = Shared<T>::elements;
  const std::size_t groups = assume_wide || aligned ? cols / n : 0;
  if (groups > 0) {
    tile.per_row = static_cast<unsigned>(groups);
    reduce_tile_groups<WidePack<T, n>, n>(tile, ranks, from, op);
  }
  const std::size_t done = groups * n;
  if (assume_wide || done == cols) return;
  tile.per_row = static_cast<unsigned>(cols - done);
  tile.dst += done;
  const auto behind = [&](int rank) { return from(rank) + done; };
  reduce_tile_groups<OnePack<T>, 1>(tile, ranks, behind, op);
}

}  // namespace sym::cuda
