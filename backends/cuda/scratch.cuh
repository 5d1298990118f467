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

// N elements of a view from `first` on, by the widest accesses that `wide` allows: every view of
// the verb fits (view_fits), or one element is wanted.
template <class T, int n, bool wide>
using PackOf = Pack<T, n, wide ? wide_unit<T, n> : narrow_unit<T>>;

template <int n, class V>
__device__ __forceinline__ bool view_fits(const V& view, std::size_t first = 0) {
  return fits_wide<typename V::value_type, n>(view.data + first);
}
template <class P, class T>
__device__ __forceinline__ P load_pack(GlobalView<T> view, std::size_t first) {
  return P::load(view.data + first);
}
template <class P, class T>
__device__ __forceinline__ void store_pack(GlobalView<T> view, std::size_t first, const P& pack) {
  pack.store(view.data + first);
}
// Shared memory: 16 bytes at a time where a pack has them.
template <class P, class T>
__device__ __forceinline__ P load_pack(ScratchView<T> view, std::size_t first) {
  P pack{};
  if constexpr (P::bytes % 16 == 0 && P::aligned_bytes == 16) {
    const uint4* from = reinterpret_cast<const uint4*>(view.data + first);
#pragma unroll
    for (int i = 0; i < P::bytes / 16; ++i) {
      const uint4 v = from[i];
      pack.w[4 * i] = v.x, pack.w[4 * i + 1] = v.y;
      pack.w[4 * i + 2] = v.z, pack.w[4 * i + 3] = v.w;
    }
  } else {
    memcpy(pack.w, view.data + first, P::bytes);
  }
  return pack;
}
template <class P, class T>
__device__ __forceinline__ void store_pack(ScratchView<T> view, std::size_t first, const P& pack) {
  if constexpr (P::bytes % 16 == 0 && P::aligned_bytes == 16) {
    uint4* to = reinterpret_cast<uint4*>(view.data + first);
#pragma unroll
    for (int i = 0; i < P::bytes / 16; ++i) {
      to[i] = uint4{pack.w[4 * i], pack.w[4 * i + 1], pack.w[4 * i + 2], pack.w[4 * i + 3]};
    }
  } else {
    memcpy(view.data + first, pack.w, P::bytes);
  }
}

// The packs of one group of several views; apply(f, i, before...) is f(before..., their elements
// i).
template <int n, bool wide, class... V>
struct ViewPacks {
  __device__ __forceinline__ static ViewPacks load(std::size_t) { return {}; }
  template <class F, class... A>
  __device__ __forceinline__ auto apply(F& f, int, A... values) const {
    return f(values...);
  }
};
template <int n, bool wide, class V, class... More>
struct ViewPacks<n, wide, V, More...> {
  PackOf<typename V::value_type, n, wide> head;
  ViewPacks<n, wide, More...> tail;

  __device__ __forceinline__ static ViewPacks load(std::size_t first, V view, More... more) {
    return ViewPacks{load_pack<decltype(head)>(view, first), decltype(tail)::load(first, more...)};
  }
  template <class F, class... A>
  __device__ __forceinline__ auto apply(F& f, int i, A... values) const {
    return tail.apply(f, i, values..., head.get(i));
  }
};

// dst[i] = f(src[i]...) for i in [0, count), shared as every verb shares a range of dst's type. The
// loads of a whole group are in flight together: a source may be memory.
template <class D, class F, class... S>
__device__ __forceinline__ void map_views(D dst, std::size_t count, F f, S... src) {
  using T = typename D::value_type;
  constexpr int n = Shared<T>::elements;
  const auto map = [&]<int elements, bool wide>(std::size_t first) {
    const auto packs = ViewPacks<elements, wide, S...>::load(first, src...);
    Accumulator<T> result[elements];
#pragma unroll
    for (int i = 0; i < elements; ++i) result[i] = static_cast<Accumulator<T>>(packs.apply(f, i));
    store_pack(dst, first, PackOf<T, elements, wide>::of(result));
  };
  const Shared<T> shared(count);
  const bool wide = view_fits<n>(dst) && (view_fits<n>(src) && ...);
  if (wide) {
    const auto groups = static_cast<unsigned>(shared.groups);  // one of the views is scratch
#pragma unroll 1
    for (unsigned g = threadIdx.x; g < groups; g += blockDim.x) {
      map.template operator()<n, true>(g * n);
    }
  }
  each_group(shared, wide, [&](std::size_t first, int elements) {
#pragma unroll 1
    for (int i = 0; i < elements; ++i) map.template operator()<1, false>(first + i);
  });
}

}  // namespace sym::cuda
