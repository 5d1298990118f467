// What the lanes of a block do for each verb, once addresses are known: copy, reduce, map, fold.
// All follow the lane mapping of pack.cuh. Accesses of several groups are in flight per lane before
// the first is used: on NVLink a load takes 0.9 us, so bytes in flight are the bandwidth.
#pragma once

#include <limits>

#include "backends/cuda/pack.cuh"
#include "backends/cuda/scratch.cuh"
#include "core/team.hpp"

namespace sym::cuda {

inline constexpr int copy_depth = 8;    // groups in flight per lane in a copy
inline constexpr int reduce_depth = 8;  // loads in flight per lane in a reduce
inline constexpr int peers_at_once =
    8;  // loads of one group in flight when the PE count is not 1..8

// Copies up to `depth` groups, `stride` elements apart: all loads before the first store. `whole`:
// all of them exist; else those before `end`.
template <int depth, bool whole, class T>
__device__ __forceinline__ void copy_batch(T*& dst, const T*& src, const T* end, unsigned stride) {
  using Wide = WidePack<T, Shared<T>::elements>;
  Wide pack[depth];
  const T* next = src;
#pragma unroll
  for (int u = 0; u < depth; ++u, next += stride) {
    if (whole || next < end) pack[u] = Wide::load(next);
  }
  next = src;
#pragma unroll
  for (int u = 0; u < depth; ++u, next += stride, dst += stride) {
    if (whole || next < end) pack[u].store(dst);
  }
  src = next;
}

template <class T, class Lanes = BlockLanes>
__device__ __forceinline__ void copy_lanes(T* dst, const T* src, std::size_t count) {
  constexpr int n = Shared<T>::elements;
  const Shared<T, Lanes> shared(count);
  const bool wide = fits_wide<T, n>(dst) && fits_wide<T, n>(src);
  if (wide) {
    const unsigned stride = Lanes::count() * n;
    const T* end = src + shared.groups * n;
    const T* next = src + Lanes::index() * n;
    T* to = dst + Lanes::index() * n;
#pragma unroll 1
    while (end - next > static_cast<std::ptrdiff_t>(stride) * (copy_depth - 1)) {
      copy_batch<copy_depth, true>(to, next, end, stride);
    }
    if (next < end) copy_batch<copy_depth - 1, false>(to, next, end, stride);
  }
  each_group(shared, wide, [&](std::size_t first, int elements) {
#pragma unroll 1
    for (int i = 0; i < elements; ++i) OnePack<T>::load(src + first + i).store(dst + first + i);
  });
}

// Adds one operand's pack to the totals; `first` operands start them.
template <class P, class A, int n, class Op>
__device__ __forceinline__ void take(A (&total)[n], const P& pack, bool first, Op op) {
#pragma unroll
  for (int i = 0; i < n; ++i) {
    const A value = pack.get(i);
    total[i] = first ? value : op.combine(total[i], value);
  }
}
template <class P, class T, class A, int n, class Op>
__device__ __forceinline__ void finish(T* dst, A (&total)[n], int operands, Op op) {
#pragma unroll
  for (int i = 0; i < n; ++i) total[i] = op.finish(total[i], operands);
  P::of(total).store(dst);
}

// dst[0, n) = op over ranks 0..ranks-1 of from(rank)[0, n): any number of operands, in batches.
template <class P, int n, class T, class From, class Op>
__device__ __forceinline__ void reduce_group(T* dst, std::size_t first, int ranks, From from,
                                             Op op) {
  Accumulator<T> total[n];
#pragma unroll 1
  for (int r = 0; r < ranks; r += peers_at_once) {
    P pack[peers_at_once];
#pragma unroll
    for (int k = 0; k < peers_at_once; ++k) {
      if (r + k < ranks) pack[k] = P::load(from(r + k) + first);
    }
#pragma unroll
    for (int k = 0; k < peers_at_once; ++k) {
      if (r + k < ranks) take(total, pack[k], r + k == 0, op);
    }
  }
  finish<P>(dst + first, total, ranks, op);
}

// The same for a number of operands known to the compiler that lie `hop` bytes apart, `depth`
// groups of this lane at a time. Loads are issued in rank order; other lanes are at other groups
// meanwhile.
template <int ranks, class T, class Op>
__device__ __forceinline__ void reduce_wide(T* dst, const T* first, std::ptrdiff_t hop,
                                            std::size_t groups, Op op) {
  constexpr int n = Shared<T>::elements;
  constexpr int depth = ranks >= reduce_depth ? 1 : reduce_depth / ranks;
  using P = WidePack<T, n>;
  constexpr std::ptrdiff_t never = std::numeric_limits<std::ptrdiff_t>::min();
  const unsigned stride = blockDim.x * n;
  const T* end = first + groups * n;
  const T* next = first + threadIdx.x * n;
  dst += threadIdx.x * n;
#pragma unroll 1
  while (next < end) {
    P pack[depth][ranks];
    const T* group = next;
#pragma unroll
    for (int u = 0; u < depth; ++u, group += stride) {
      const T* source = group;
#pragma unroll
      for (int r = 0; r < ranks; ++r) {
        if (u == 0 || group < end) pack[u][r] = P::load(source);
        source = reinterpret_cast<const T*>(reinterpret_cast<const char*>(source) + hop);
      }
    }
    if (hop == never)
      break;  // ends the basic block: or ptxas sinks loads among the sums to save registers
#pragma unroll
    for (int u = 0; u < depth; ++u, next += stride, dst += stride) {
      if (u == 0 || next < end) {
        Accumulator<T> total[n];
#pragma unroll
        for (int r = 0; r < ranks; ++r) take(total, pack[u][r], r == 0, op);
        finish<P>(dst, total, ranks, op);
      }
    }
  }
}

// Bytes from one rank's operand to the next one's, or 0 where the ranks are not evenly spaced.
template <class From>
__device__ __forceinline__ std::ptrdiff_t hop_bytes(int ranks, From from) {
  const auto address = [&](int rank) { return reinterpret_cast<const char*>(from(rank)); };
  if (ranks == 1) return 1;
  const std::ptrdiff_t hop = address(1) - address(0);
#pragma unroll 1
  for (int r = 2; r < ranks; ++r) {
    if (address(r) - address(r - 1) != hop) return 0;
  }
  return hop;
}

// dst[0, count) = op over ranks of from(rank)[0, count), in rank order, rounded once. `from` gives
// the address of a rank's operand; `aligned` says that every one of them is aligned for wide
// access.
template <class T, class From, class Op>
__device__ __forceinline__ void reduce_lanes(T* dst, std::size_t count, int ranks, bool aligned,
                                             From from, Op op) {
  constexpr int n = Shared<T>::elements;
  const Shared<T> shared(count);
  const bool wide = (assume_wide || aligned) && fits_wide<T, n>(dst);
  if (wide) {
    const std::ptrdiff_t hop = ranks <= 8 ? hop_bytes(ranks, from) : 0;
    switch (hop == 0 ? 0 : ranks) {
      case 1:
        reduce_wide<1>(dst, from(0), hop, shared.groups, op);
        break;
      case 2:
        reduce_wide<2>(dst, from(0), hop, shared.groups, op);
        break;
      case 3:
        reduce_wide<3>(dst, from(0), hop, shared.groups, op);
        break;
      case 4:
        reduce_wide<4>(dst, from(0), hop, shared.groups, op);
        break;
      case 5:
        reduce_wide<5>(dst, from(0), hop, shared.groups, op);
        break;
      case 6:
        reduce_wide<6>(dst, from(0), hop, shared.groups, op);
        break;
      case 7:
        reduce_wide<7>(dst, from(0), hop, shared.groups, op);
        break;
      case 8:
        reduce_wide<8>(dst, from(0), hop, shared.groups, op);
        break;
      default:
#pragma unroll 1
        for (std::size_t g = threadIdx.x; g < shared.groups; g += blockDim.x) {
          reduce_group<WidePack<T, n>, n>(dst, g * n, ranks, from, op);
        }
    }
  }
  each_group(shared, wide, [&](std::size_t first, int elements) {
#pragma unroll 1
    for (int i = 0; i < elements; ++i) reduce_group<OnePack<T>, 1>(dst, first + i, ranks, from, op);
  });
}

// The packs of one group of several sources.
template <int n, bool wide, class... S>
struct Packs {
  __device__ __forceinline__ static Packs load(std::size_t) { return {}; }
  template <class F, class... A>
  __device__ __forceinline__ auto apply(F& f, int, A... values) const {
    return f(values...);
  }
};
template <int n, bool wide, class S, class... More>
struct Packs<n, wide, S, More...> {
  Pack<S, n, wide ? wide_unit<S, n> : narrow_unit<S>> head;
  Packs<n, wide, More...> tail;

  __device__ __forceinline__ static Packs load(std::size_t first, const S* src,
                                               const More*... more) {
    return Packs{decltype(head)::load(src + first), decltype(tail)::load(first, more...)};
  }
  template <class F, class... A>
  __device__ __forceinline__ auto apply(F& f, int i, A... values) const {
    return tail.apply(f, i, values..., head.get(i));
  }
};

template <class P, int n, class D, class F, class Sources>
__device__ __forceinline__ void map_group(D* dst, F& f, const Sources& sources) {
  Accumulator<D> result[n];
#pragma unroll
  for (int i = 0; i < n; ++i) result[i] = static_cast<Accumulator<D>>(sources.apply(f, i));
  P::of(result).store(dst);
}

// dst[i] = f(src[i]...) for i in [0, count).
template <class D, class F, class... S>
__device__ __forceinline__ void map_lanes(D* dst, std::size_t count, F f, const S*... src) {
  constexpr int n = Shared<D>::elements;
  constexpr int depth = sizeof...(S) <= 1 ? 4 : 2;
  using Wide = Packs<n, true, S...>;
  const Shared<D> shared(count);
  const bool wide = fits_wide<D, n>(dst) && (fits_wide<S, n>(src) && ...);
  if (wide) {
    const std::size_t step = blockDim.x;
#pragma unroll 1
    for (std::size_t g = threadIdx.x; g < shared.groups; g += depth * step) {
      Wide pack[depth];
#pragma unroll
      for (int u = 0; u < depth; ++u) {
        if (u == 0 || g + u * step < shared.groups)
          pack[u] = Wide::load((g + u * step) * n, src...);
      }
#pragma unroll
      for (int u = 0; u < depth; ++u) {
        if (u == 0 || g + u * step < shared.groups) {
          map_group<WidePack<D, n>, n>(dst + (g + u * step) * n, f, pack[u]);
        }
      }
    }
  }
  each_group(shared, wide, [&](std::size_t first, int elements) {
#pragma unroll 1
    for (int i = 0; i < elements; ++i) {
      map_group<OnePack<D>, 1>(dst + first + i, f, Packs<1, false, S...>::load(first + i, src...));
    }
  });
}

}  // namespace sym::cuda
