// Pack: a few consecutive elements in registers, and how the lanes of a block share a range.
//
// Lane mapping, the same in every verb: a range is cut, from its first element, to groups of
// granule<T> elements (16 bytes); group g belongs to lane g % blockDim.x, whether it moves by one
// wide access or element by element. So two verbs on exactly the same range and type need no sync
// between. A warp that works alone (Block::warps) shares its ranges among its 32 lanes likewise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "backends/cuda/ptx.cuh"
#include "core/range.hpp"
#include "core/types.hpp"

namespace sym::cuda {

// Whether ranges are taken to be aligned and whole numbers of 16 bytes: code for tests/code, which
// looks at what remains.
#if defined(SYM_ASSUME_WIDE)
inline constexpr bool assume_wide = true;
#else
inline constexpr bool assume_wide = false;
#endif

// N elements of T as 32-bit words, moved by accesses of `unit` bytes (a power of two, at most 16,
// that divides the size). Addresses must be aligned to `unit`.
template <class T, int N, int unit>
struct Pack {
  static constexpr int bytes = N * static_cast<int>(sizeof(T));
  static constexpr int aligned_bytes = unit;  // what an address is known to be a multiple of
  static constexpr int words = (bytes + 3) / 4;
  static_assert(bytes % unit == 0 && std::is_trivially_copyable_v<T>);
  std::uint32_t w[words];

  __device__ __forceinline__ static Pack load(const T* from) {
    Pack pack;
    const char* p = reinterpret_cast<const char*>(from);
    if constexpr (unit == 16) {
#pragma unroll
      for (int i = 0; i < bytes / 16; ++i) {
        const ptx::Words4 v = ptx::load16(p + 16 * i);
#pragma unroll
        for (int k = 0; k < 4; ++k) pack.w[4 * i + k] = v.w[k];
      }
    } else if constexpr (unit == 8) {
#pragma unroll
      for (int i = 0; i < bytes / 8; ++i) {
        const ptx::Words2 v = ptx::load8(p + 8 * i);
        pack.w[2 * i] = v.w[0];
        pack.w[2 * i + 1] = v.w[1];
      }
    } else if constexpr (unit == 4) {
#pragma unroll
      for (int i = 0; i < words; ++i) pack.w[i] = ptx::load4(p + 4 * i);
    } else {
#pragma unroll
      for (int i = 0; i < words; ++i) pack.w[i] = 0;
#pragma unroll
      for (int i = 0; i < bytes / unit; ++i) {
        const std::uint32_t v = unit == 2 ? ptx::load2(p + unit * i) : ptx::load1(p + unit * i);
        pack.w[unit * i / 4] |= v << (8 * (unit * i % 4));
      }
    }
    return pack;
  }

  __device__ __forceinline__ void store(T* to) const {
    char* p = reinterpret_cast<char*>(to);
    if constexpr (unit == 16) {
#pragma unroll
      for (int i = 0; i < bytes / 16; ++i) {
        ptx::store16(p + 16 * i, ptx::Words4{{w[4 * i], w[4 * i + 1], w[4 * i + 2], w[4 * i + 3]}});
      }
    } else if constexpr (unit == 8) {
#pragma unroll
      for (int i = 0; i < bytes / 8; ++i)
        ptx::store8(p + 8 * i, ptx::Words2{{w[2 * i], w[2 * i + 1]}});
    } else if constexpr (unit == 4) {
#pragma unroll
      for (int i = 0; i < words; ++i) ptx::store4(p + 4 * i, w[i]);
    } else {
#pragma unroll
      for (int i = 0; i < bytes / unit; ++i) {
        const std::uint32_t v = w[unit * i / 4] >> (8 * (unit * i % 4));
        if constexpr (unit == 2) {
          ptx::store2(p + unit * i, v);
        } else {
          ptx::store1(p + unit * i, v);
        }
      }
    }
  }

  // Element i as Accumulator<T>, bit for bit as core/types.hpp widens it. i must be a constant
  // after unrolling.
  __device__ __forceinline__ Accumulator<T> get(int i) const {
    constexpr int size = static_cast<int>(sizeof(T));
    if constexpr (std::is_same_v<T, f16>) {
      const f16 value{static_cast<std::uint16_t>(w[i / 2] >> (16 * (i % 2)))};
      const float exact = ptx::from_f16(value.bits);
      if (exact == exact) return exact;
      return std::bit_cast<float>(((value.bits & 0x8000U) << 16) | 0x7f800000U |
                                  ((value.bits & 0x3ffU) << 13));
    } else if constexpr (size == 1) {
      return widen(std::bit_cast<T>(static_cast<std::uint8_t>(w[i / 4] >> (8 * (i % 4)))));
    } else if constexpr (size == 2) {
      return widen(std::bit_cast<T>(static_cast<std::uint16_t>(w[i / 2] >> (16 * (i % 2)))));
    } else if constexpr (size == 4) {
      return std::bit_cast<T>(w[i]);
    } else {
      static_assert(size == 8, "arithmetic is on elements of 1, 2, 4 or 8 bytes");
      return std::bit_cast<T>((static_cast<std::uint64_t>(w[2 * i + 1]) << 32) | w[2 * i]);
    }
  }

  // The accumulators rounded to T.
  __device__ __forceinline__ static Pack of(const Accumulator<T> (&values)[N]) {
    constexpr int size = static_cast<int>(sizeof(T));
    Pack pack;
    if constexpr (std::is_same_v<T, bf16> || std::is_same_v<T, f16>) {
#pragma unroll
      for (int i = 0; i < words; ++i) {
        const float low = values[2 * i];
        const float high = 2 * i + 1 < N ? values[2 * i + 1 < N ? 2 * i + 1 : 0] : 0.0F;
        pack.w[i] =
            std::is_same_v<T, bf16> ? ptx::to_bf16_pair(low, high) : ptx::to_f16_pair(low, high);
      }
    } else if constexpr (size < 4) {
      using Bits = std::conditional_t<size == 1, std::uint8_t, std::uint16_t>;
#pragma unroll
      for (int i = 0; i < words; ++i) pack.w[i] = 0;
#pragma unroll
      for (int i = 0; i < N; ++i) {
        pack.w[i * size / 4] |= static_cast<std::uint32_t>(std::bit_cast<Bits>(values[i]))
                                << (8 * (i * size % 4));
      }
    } else if constexpr (size == 4) {
#pragma unroll
      for (int i = 0; i < N; ++i) pack.w[i] = std::bit_cast<std::uint32_t>(values[i]);
    } else {
      static_assert(size == 8, "arithmetic is on elements of 1, 2, 4 or 8 bytes");
#pragma unroll
      for (int i = 0; i < N; ++i) {
        const std::uint64_t bits = std::bit_cast<std::uint64_t>(values[i]);
        pack.w[2 * i] = static_cast<std::uint32_t>(bits);
        pack.w[2 * i + 1] = static_cast<std::uint32_t>(bits >> 32);
      }
    }
    return pack;
  }
};

// The widest access that N elements of T allow once their address is aligned to it.
template <class T, int N>
inline constexpr int wide_unit = [] {
  int unit = 16;
  while (N * static_cast<int>(sizeof(T)) % unit != 0) unit /= 2;
  return unit;
}();
// The widest access that any element of T allows.
template <class T>
inline constexpr int narrow_unit = static_cast<int>(alignof(T) < 16 ? alignof(T) : 16);

template <class T, int N>
using WidePack = Pack<T, N, wide_unit<T, N>>;
template <class T>
using OnePack = Pack<T, 1, narrow_unit<T>>;

template <class T, int N>
__device__ __forceinline__ bool fits_wide(const T* at) {
  if constexpr (assume_wide) return true;
  return (reinterpret_cast<std::uintptr_t>(at) & static_cast<unsigned>(wide_unit<T, N> - 1)) == 0;
}

// Who shares a range: the lanes of the block, or those of one warp.
struct BlockLanes {
  __device__ __forceinline__ static unsigned index() { return threadIdx.x; }
  __device__ __forceinline__ static unsigned count() { return blockDim.x; }
};
struct WarpLanes {
  __device__ __forceinline__ static unsigned index() { return threadIdx.x % 32; }
  __device__ __forceinline__ static unsigned count() { return 32; }
};

// How a range of `count` elements is shared: `groups` whole groups, and `rest` elements that follow
// them and belong to the lane after that of the last group.
template <class T, class Lanes = BlockLanes>
struct Shared {
  static constexpr int elements = static_cast<int>(granule<T>);
  std::size_t groups;
  int rest;

  __device__ __forceinline__ explicit Shared(std::size_t count)
      : groups(count / granule<T>), rest(assume_wide ? 0 : static_cast<int>(count % granule<T>)) {}
  __device__ __forceinline__ bool has_rest() const {
    return rest != 0 && groups % Lanes::count() == Lanes::index();
  }
};

// Calls body(first element, elements) for this lane's groups one after another, the rest included:
// the slow path, for ranges that are not aligned (from_group 0) or for what follows the last whole
// group (from_group = groups).
template <class T, class Lanes, class Body>
__device__ __forceinline__ void each_group(const Shared<T, Lanes>& shared, bool only_rest,
                                           Body body) {
  if (!only_rest) {
#pragma unroll 1
    for (std::size_t g = Lanes::index(); g < shared.groups; g += Lanes::count()) {
      body(g * granule<T>, Shared<T>::elements);
    }
  }
  if (shared.has_rest()) body(shared.groups * granule<T>, shared.rest);
}

}  // namespace sym::cuda
