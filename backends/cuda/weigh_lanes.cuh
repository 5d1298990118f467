// What lanes do for weighted_sum: the sum of up to `terms_at_once` weighted rows in one pass, all
// of a lane's loads in flight before the first sum; more rows in further batches.
#pragma once

#include "backends/cuda/failure.hpp"
#include "backends/cuda/pack.cuh"
#include "core/block.hpp"

namespace sym::cuda {

inline constexpr int terms_at_once = 8;

// One row: null is none.
template <class T>
struct Addend {
  const T* at = nullptr;
  float weight = 0;
};

// total[i] += weight * pack[i], the product exact, one rounding: on every backend (std::fma).
template <class P, int n>
__device__ __forceinline__ void add_weighted(float (&total)[n], const P& pack, float weight) {
#pragma unroll
  for (int i = 0; i < n; ++i) total[i] = __fmaf_rn(weight, pack.get(i), total[i]);
}
template <class P, int n>
__device__ __forceinline__ void add_weighted(double (&total)[n], const P& pack, float weight) {
#pragma unroll
  for (int i = 0; i < n; ++i) {
    total[i] = __fma_rn(static_cast<double>(weight), pack.get(i), total[i]);
  }
}

// The rows of one weighted sum, of up to terms_at_once terms; equal in all lanes of a warp.
template <class T>
using Rows = Addend<T>[terms_at_once];

// The terms of one weighted sum as the lanes of a warp have evaluated them: lane j the j-th.
template <class T>
struct Terms {
  Addend<T> mine;
  bool aligned = true;  // what this lane saw, for wide access
};

// The lanes' whole groups. A warp has 4 KiB in flight, a block of 16 warps 64: several times what a
// link or a memory needs of one SM. Two groups at a time would not fit the registers.
template <class Lanes, class T>
__device__ __forceinline__ void weigh_wide(T* dst, std::size_t groups, const Rows<T>& row,
                                           int terms) {
  constexpr int n = Shared<T>::elements;
  using P = WidePack<T, n>;
#pragma unroll 1
  for (std::size_t g = Lanes::index(); g < groups; g += Lanes::count()) {
    P pack[terms_at_once];
#pragma unroll
    for (int k = 0; k < terms_at_once; ++k) {
      if (row[k].at != nullptr) pack[k] = P::load(row[k].at + g * n);
    }
    if (terms < 0) break;  // never: ends the basic block, or ptxas sinks loads among the sums
    Accumulator<T> total[n] = {};
#pragma unroll
    for (int k = 0; k < terms_at_once; ++k) {
      if (row[k].at != nullptr) add_weighted(total, pack[k], row[k].weight);
    }
    P::of(total).store(dst + g * n);
  }
}

// dst[0, count) = the weighted sum of the rows. `aligned`: all of them, for wide access.
template <class Lanes, class T>
__device__ __forceinline__ void weigh_rows(T* dst, std::size_t count, const Rows<T>& row, int terms,
                                           bool aligned) {
  const Shared<T, Lanes> shared(count);
  const bool wide = aligned && fits_wide<T, Shared<T>::elements>(dst);
  if (wide) weigh_wide<Lanes>(dst, shared.groups, row, terms);
  each_group(shared, wide, [&](std::size_t first, int elements) {
#pragma unroll 1
    for (std::size_t i = first; i < first + static_cast<unsigned>(elements); ++i) {
      Accumulator<T> total[1] = {};
#pragma unroll
      for (int k = 0; k < terms_at_once; ++k) {
        if (row[k].at != nullptr) {
          add_weighted(total, OnePack<T>::load(row[k].at + i), row[k].weight);
        }
      }
      OnePack<T>::of(total).store(dst + i);
    }
  });
}

// One pack of any number of terms; from(j) gives the j-th.
template <class P, int n, class T, class From>
__device__ __forceinline__ void weigh_group(T* dst, std::size_t first, int terms, From from) {
  constexpr int at_once = 4;
  Accumulator<T> total[n] = {};
#pragma unroll 1
  for (int j = 0; j < terms; j += at_once) {
    Addend<T> row[at_once];
    P pack[at_once];
#pragma unroll
    for (int k = 0; k < at_once; ++k) {
      if (j + k < terms) row[k] = from(j + k);
      if (row[k].at != nullptr) pack[k] = P::load(row[k].at + first);
    }
#pragma unroll
    for (int k = 0; k < at_once; ++k) {
      if (row[k].at != nullptr) add_weighted(total, pack[k], row[k].weight);
    }
  }
  P::of(total).store(dst + first);
}

// weigh_rows for more terms than terms_at_once, each asked for again at every pack.
template <class Lanes, class T, class From>
__device__ __forceinline__ void weigh_many(T* dst, std::size_t count, int terms, bool aligned,
                                           From from) {
  constexpr int n = Shared<T>::elements;
  const Shared<T, Lanes> shared(count);
  const bool wide = aligned && fits_wide<T, n>(dst);
  if (wide) {
#pragma unroll 1
    for (std::size_t g = Lanes::index(); g < shared.groups; g += Lanes::count()) {
      weigh_group<WidePack<T, n>, n>(dst, g * n, terms, from);
    }
  }
  each_group(shared, wide, [&](std::size_t first, int elements) {
#pragma unroll 1
    for (std::size_t i = first; i < first + static_cast<unsigned>(elements); ++i) {
      weigh_group<OnePack<T>, 1>(dst, i, terms, from);
    }
  });
}

// Either, once every lane of the warp has evaluated its terms. Whole warps call it.
template <class Lanes, class T, class From>
__device__ __forceinline__ void weigh_lanes(T* dst, std::size_t count, int n, const Terms<T>& terms,
                                            From from) {
  const bool aligned = __all_sync(~0U, terms.aligned) != 0;
  if (n > terms_at_once) return weigh_many<Lanes>(dst, count, n, aligned, from);
  Rows<T> row;
#pragma unroll
  for (int k = 0; k < terms_at_once; ++k) {
    const auto at = reinterpret_cast<unsigned long long>(terms.mine.at);
    row[k].at = reinterpret_cast<const T*>(__shfl_sync(~0U, at, k));
    row[k].weight = __shfl_sync(~0U, terms.mine.weight, k);
  }
  weigh_rows<Lanes>(dst, count, row, n, aligned);
}

}  // namespace sym::cuda
