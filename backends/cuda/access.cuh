// Access: where a kernel finds what verbs name. What a block and its warps' pieces share.
#pragma once

#include "backends/cuda/failure.hpp"
#include "backends/cuda/pack.cuh"
#include "backends/cuda/scratch.cuh"
#include "backends/cuda/weigh_lanes.cuh"
#include "core/block.hpp"

namespace sym::cuda {

class Access {
 protected:
  __device__ __forceinline__ explicit Access(const KernelContext& context) : context_(context) {}

  __device__ __forceinline__ char* heap(int pe) const {
    return context_.base + static_cast<std::size_t>(pe) * context_.pitch_bytes;
  }
  template <class T>
  __device__ __forceinline__ T* at(Window<T> window, int pe) const {
    return reinterpret_cast<T*>(heap(pe) + window.offset_bytes);
  }
  template <class T>
  __device__ __forceinline__ T* own(Window<T> window) const {
    return reinterpret_cast<T*>(context_.own + window.offset_bytes);
  }
  template <class T>
  __device__ __forceinline__ T* own(Local<T> local) const {
    return local.data;
  }

  // The elements of this PE's memory from `first` on.
  template <class T>
  __device__ __forceinline__ GlobalView<T> view(Window<T> window, std::size_t first) const {
    return {own(window) + first};
  }
  template <class T>
  __device__ __forceinline__ auto view(Local<T> local, std::size_t first) const {
    return GlobalView<std::remove_const_t<T>>{const_cast<std::remove_const_t<T>*>(local.data) +
                                              first};
  }
  template <class T>
  __device__ __forceinline__ ScratchView<T> view(Scratch<T> scratch, std::size_t first) const {
    return {scratch_at(scratch) + first};
  }

  // How many elements a verb may name: of Scratch, no more than the launch has, and none where its
  // offset does not suit its type.
  template <class M>
  __device__ __forceinline__ std::size_t room(const M& memory) const {
    if constexpr (is_scratch<M>) {
      using T = typename M::value_type;
      const std::size_t bytes = context_.scratch_bytes;
      if (memory.offset_bytes >= bytes || memory.offset_bytes % alignof(T) != 0) return 0;
      const std::size_t there = (bytes - memory.offset_bytes) / sizeof(T);
      return memory.count < there ? memory.count : there;
    } else {
      return memory.count;
    }
  }
  template <class... M>
  __device__ __forceinline__ std::size_t least_room(const M&... memory) const {
    std::size_t least = ~std::size_t{0};
    ((least = room(memory) < least ? room(memory) : least), ...);
    return least;
  }
  __device__ __forceinline__ bool is_pe(int pe) const {
    return static_cast<unsigned>(pe) < static_cast<unsigned>(context_.n_pes);
  }
  template <class... M>
  __device__ __forceinline__ bool within(Range range, const M&... memory) const {
    return (holds(range.end(), memory) && ...);
  }
  // end <= room(memory), in fewer steps.
  template <class M>
  __device__ __forceinline__ bool holds(std::size_t end, const M& memory) const {
    if constexpr (is_scratch<M>) {
      using T = typename M::value_type;
      const std::size_t bytes = context_.scratch_bytes;
      const bool small = end <= bytes && memory.offset_bytes <= bytes;  // sums do not wrap
      return small && end <= memory.count && memory.offset_bytes % alignof(T) == 0 &&
             memory.offset_bytes + end * sizeof(T) <= bytes;
    } else {
      return end <= memory.count;
    }
  }

  // Evaluates and looks at the terms of a weighted sum, lane j of each warp at term(j): what terms
  // read from memory takes one round trip so, and not n. refuse(term) is called by a lane whose
  // term is out of bounds.
  template <class T, class F, class Refuse>
  __device__ __forceinline__ Terms<T> look_at_terms(Window<T> src, Range range, int n, F& term,
                                                    Refuse refuse) const {
    constexpr int elements = static_cast<int>(granule<T>);
    Terms<T> terms;
#pragma unroll 1
    for (int j = static_cast<int>(threadIdx.x % 32); j < n; j += 32) {
      const Term one = term(j);
      if (one.pe < 0) continue;
      if (!is_pe(one.pe) || one.first > src.count || range.end() > src.count - one.first) {
        refuse(one);
      }
      const std::size_t bytes = src.offset_bytes + (one.first + range.first) * sizeof(T);
      if (bytes % static_cast<unsigned>(wide_unit<T, elements>) != 0) terms.aligned = false;
      terms.mine = addend(one, src, range);
    }
    return terms;
  }
  template <class T>
  __device__ __forceinline__ Addend<T> addend(const Term& term, Window<T> src, Range range) const {
    if (term.pe < 0) return {};
    return {at(src, term.pe) + term.first + range.first, term.weight};
  }

  const KernelContext& context_;
};

}  // namespace sym::cuda
