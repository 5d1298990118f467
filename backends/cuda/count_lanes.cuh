// What the lanes of a block do for tally and scan: counts and offsets, on one SM.
#pragma once

#include <cstdint>

#include "backends/cuda/scratch.cuh"

namespace sym::cuda {

inline constexpr std::uint32_t no_bin = ~std::uint32_t{0};
inline constexpr unsigned all_lanes = ~0U;

template <class K>
__device__ __forceinline__ std::uint32_t bin_of(K key, std::uint32_t bins) {
  const auto wide = static_cast<std::uint64_t>(static_cast<std::int64_t>(key));
  return wide < bins ? static_cast<std::uint32_t>(wide) : no_bin;
}

// counts[k] += how many of keys[0, count) are k; whether all others that this lane met are -1. 16
// keys of 4 bytes are in flight a lane. An add of the constant 1 whose result nobody wants is one
// instruction that counts the lanes of equal address (ATOMS.POPC.INC), so that a warp whose keys
// are all equal is as fast as any.
template <class K>
__device__ __forceinline__ bool tally_lanes(std::uint32_t* counts, std::uint32_t bins,
                                            const K* keys, std::size_t count) {
  constexpr int n = Shared<K>::elements;
  constexpr int depth = 4;
  bool sound = true;
  const auto add = [&](K key) {
    const std::uint32_t bin = bin_of(key, bins);
    if (bin != no_bin) atomicAdd(counts + bin, 1U);
    sound = sound && (bin != no_bin || key == static_cast<K>(-1));
  };
  const Shared<K> shared(count);
  const bool wide = fits_wide<K, n>(keys);
  if (wide) {
    const std::size_t step = blockDim.x;
#pragma unroll 1
    for (std::size_t g = threadIdx.x; g < shared.groups; g += depth * step) {
      WidePack<K, n> pack[depth];
#pragma unroll
      for (int u = 0; u < depth; ++u) {
        if (u == 0 || g + u * step < shared.groups) {
          pack[u] = WidePack<K, n>::load(keys + (g + u * step) * n);
        }
      }
#pragma unroll
      for (int u = 0; u < depth; ++u) {
        if (u != 0 && g + u * step >= shared.groups) continue;
#pragma unroll
        for (int i = 0; i < n; ++i) add(pack[u].get(i));
      }
    }
  }
  each_group(shared, wide, [&](std::size_t first, int elements) {
#pragma unroll 1
    for (int i = 0; i < elements; ++i) add(OnePack<K>::load(keys + first + i).get(0));
  });
  return sound;
}

// places[i] = counts[keys[i]]++ in ascending order of i. A warp takes 256 consecutive keys and
// ranks equal ones within each 32 of them beforehand; then the warps take turns, in order, to add
// to the counts: what is serial is a few shared-memory atomics for each 256 keys. Ends with a sync
// unless count is 0.
template <class K, class P>
__device__ __forceinline__ void place_lanes(std::uint32_t* counts, std::uint32_t bins,
                                            const K* keys, std::size_t count, P places) {
  constexpr unsigned rows = 8;
  constexpr unsigned share = 32 * rows;  // keys of a warp's turn
  using V = typename P::value_type;
  const unsigned lane = threadIdx.x % 32;
  const unsigned warp = threadIdx.x / 32;
  const unsigned warps = blockDim.x / 32;
  const unsigned below = (1U << lane) - 1;
#pragma unroll 1
  for (std::size_t base = 0; base < count; base += warps * share) {
    const std::size_t first = base + warp * share + lane;
    std::uint32_t bin[rows];
    std::uint32_t same[rows];  // the lanes whose key is this one's
    std::uint32_t found[rows];
#pragma unroll
    for (unsigned r = 0; r < rows; ++r) {
      bin[r] = no_bin;
      if (first + 32 * r < count)
        bin[r] = bin_of(OnePack<K>::load(keys + first + 32 * r).get(0), bins);
    }
#pragma unroll
    for (unsigned r = 0; r < rows; ++r) {
      same[r] = __match_any_sync(all_lanes, bin[r]);
      found[r] = 0;
    }
    const std::size_t used = (count - base + share - 1) / share;
    const unsigned turns = used < warps ? static_cast<unsigned>(used) : warps;
#pragma unroll 1
    for (unsigned turn = 0; turn < turns; ++turn) {
      if (turn == warp) {
#pragma unroll
        for (unsigned r = 0; r < rows; ++r) {
          const bool leads = (same[r] & below) == 0 && bin[r] != no_bin;
          if (leads) found[r] = atomicAdd(counts + bin[r], static_cast<unsigned>(__popc(same[r])));
          __syncwarp();  // orders the rows: another lane may lead the same key in the next one
        }
      }
      __syncthreads();
    }
#pragma unroll
    for (unsigned r = 0; r < rows; ++r) {
      const std::uint32_t before =
          __shfl_sync(all_lanes, found[r], __ffs(static_cast<int>(same[r])) - 1);
      const auto place = before + static_cast<unsigned>(__popc(same[r] & below));
      if (bin[r] != no_bin) places.store(first + 32 * r, static_cast<V>(place));
    }
  }
}

// dst[i] = the sum of f(src[j]) over j < i; every lane gets the sum of all. An element is read and
// written by one lane, so dst may be src. Ends with a sync.
template <class D, class S, class F>
__device__ __forceinline__ auto scan_lanes(D dst, std::size_t count, F f, S src) {
  using V = typename D::value_type;
  __shared__ V totals[2][32];  // of each warp; two sets, so that one sync a tile is enough
  const unsigned lane = threadIdx.x % 32;
  const unsigned warp = threadIdx.x / 32;
  const unsigned warps = blockDim.x / 32;
  V running = 0;
  int set = 0;
#pragma unroll 1
  for (std::size_t base = 0; base < count; base += blockDim.x, set ^= 1) {
    const std::size_t i = base + threadIdx.x;
    const V value = i < count ? static_cast<V>(f(src.load(i))) : V{0};
    V upto = value;  // the sum of this warp's elements up to this lane's
#pragma unroll
    for (unsigned hop = 1; hop < 32; hop *= 2) {
      const V other = __shfl_up_sync(all_lanes, upto, hop);
      if (lane >= hop) upto += other;
    }
    if (lane == 31) totals[set][warp] = upto;
    __syncthreads();
    V before = running;
#pragma unroll 1
    for (unsigned w = 0; w < warps; ++w) {
      const V total = totals[set][w];
      if (w < warp) before += total;
      running += total;
    }
    if (i < count) dst.store(i, static_cast<V>(before + upto - value));
  }
  __syncthreads();
  return running;
}

}  // namespace sym::cuda
