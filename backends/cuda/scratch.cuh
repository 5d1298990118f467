// Where a block's Scratch lies, and how an element is read or written by one lane wherever its
// memory lies: the way of verbs that work on counts and offsets, where a wide access buys nothing.
#pragma once

#include "backends/cuda/pack.cuh"
#include "core/window.hpp"

namespace sym::cuda {

namespace detail {
// The block's dynamic shared memory, LaunchConfig::scratch_bytes long.
extern __shared__ __align__(16) char scratch_memory[];
}  // namespace detail

template <class T>
__device__ __forceinline__ T* scratch_at(Scratch<T> scratch) {
  return reinterpret_cast<T*>(detail::scratch_memory + scratch.offset_bytes);
}

// Elements of a window or a local, which peers may have written: never by the read-only cache.
template <class T>
struct GlobalView {
  using value_type = T;
  static constexpr bool is_global = true;
  T* data;

  __device__ __forceinline__ T load(std::size_t i) const {
    const auto pack = OnePack<T>::load(data + i);
    T value;
    memcpy(&value, pack.w, sizeof(T));
    return value;
  }
  __device__ __forceinline__ void store(std::size_t i, T value) const {
    OnePack<T> pack{};
    memcpy(pack.w, &value, sizeof(T));
    pack.store(data + i);
  }
  __device__ __forceinline__ Accumulator<T> get(std::size_t i) const {
    return OnePack<T>::load(data + i).get(0);
  }
};

template <class T>
struct ScratchView {
  using value_type = T;
  static constexpr bool is_global = false;
  T* data;

  __device__ __forceinline__ T load(std::size_t i) const { return data[i]; }
  __device__ __forceinline__ void store(std::size_t i, T value) const { data[i] = value; }
  __device__ __forceinline__ Accumulator<T> get(std::size_t i) const { return widen(data[i]); }
};

// dst[i] = f(src[i]...) for i in [0, count), element by element, but shared as every verb shares a
// range of dst's type. The loads of a whole group are in flight together: a source may be memory.
template <class D, class F, class... S>
__device__ __forceinline__ void map_views(D dst, std::size_t count, F f, S... src) {
  using T = typename D::value_type;
  constexpr int n = Shared<T>::elements;
  each_group(Shared<T>(count), false, [&](std::size_t first, int elements) {
    if (elements == n) {
      T value[n];
#pragma unroll
      for (int i = 0; i < n; ++i) {
        value[i] =
            narrow<T>(static_cast<Accumulator<T>>(f(src.get(first + static_cast<unsigned>(i))...)));
      }
#pragma unroll
      for (int i = 0; i < n; ++i) dst.store(first + static_cast<unsigned>(i), value[i]);
      return;
    }
#pragma unroll 1
    for (std::size_t i = first; i < first + static_cast<unsigned>(elements); ++i) {
      dst.store(i, narrow<T>(static_cast<Accumulator<T>>(f(src.get(i)...))));
    }
  });
}

}  // namespace sym::cuda
