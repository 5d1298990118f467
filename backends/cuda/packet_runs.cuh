// What becomes of a lane's groups once their packets have come: visitors of
// CudaBlock::take_batches. Each knows how many groups it takes at a time (`depth`), and how they
// are loaded and stored.
#pragma once

#include <utility>

#include "backends/cuda/packets.cuh"

namespace sym::cuda {

// This PE's own part of each message, loaded while the peers' are under way.
template <class T, template <class> class Access, int depth>
class OwnRun {
 public:
  __device__ __forceinline__ OwnRun(const T* from, Groups<T> groups)
      : from_(from), groups_(groups) {}
  template <class B>
  __device__ __forceinline__ void load(const B& batch) {
#pragma unroll
    for (int k = 0; k < depth; ++k)
      if (k < batch.groups()) words_[k] = Access<T>::load(from_, groups_, batch.group(k));
  }
  __device__ __forceinline__ void store(T* to, unsigned group, const ptx::Words4& words) const {
    Access<T>::store(to, groups_, group, words);
  }
  __device__ __forceinline__ const ptx::Words4& get(int k) const { return words_[k]; }

 private:
  const T* from_;
  Groups<T> groups_;
  ptx::Words4 words_[depth] = {};
};

// Reduces the members' groups in rank order, and rounds once.
template <class T, class Op, class Own, int depth_>
struct ReducedRun {
  static constexpr int depth = depth_;
  static constexpr int n = Shared<T>::elements;
  using Pack = WidePack<T, n>;
  Own own;
  T* to;
  int operands;
  Op op;
  Accumulator<T> total[depth][n] = {};

  template <class B>
  __device__ __forceinline__ void begin(const B& batch) {
    own.load(batch);
  }
  template <class B>
  __device__ __forceinline__ void take(const B&, int rank, bool mine, const PacketRun<depth>& run) {
#pragma unroll
    for (int k = 0; k < depth; ++k) {
      const ptx::Words4 words = mine ? own.get(k) : run.get(k);
      Pack pack;
#pragma unroll
      for (int i = 0; i < Pack::words; ++i) pack.w[i] = words.w[i];
      cuda::take(total[k], pack, rank == 0, op);
    }
  }
  template <class B>
  __device__ __forceinline__ void end(const B& batch) {
#pragma unroll
    for (int k = 0; k < depth; ++k) {
      if (k >= batch.groups()) continue;
#pragma unroll
      for (int i = 0; i < n; ++i) total[k][i] = op.finish(total[k][i], operands);
      const auto pack = Pack::of(total[k]);
      own.store(to, batch.group(k), {{pack.w[0], pack.w[1], pack.w[2], pack.w[3]}});
    }
  }
};

// The same, and then f(total, others...), rounded once. `load_others.operator()<n, wide>(first)`
// loads n elements of the others (ViewPacks): where a lane has one group, while its messages are
// under way; of several the registers would not do.
template <class Reduced, class To, class F, class Others, bool wide>
struct MappedRun {
  static constexpr int depth = Reduced::depth;
  static constexpr int n = Reduced::n;
  static constexpr bool early = wide && depth == 1;
  using T = typename To::value_type;
  using Loaded = decltype(std::declval<Others>().template operator()<n, wide>(std::size_t{0}));
  Reduced reduced;
  Groups<T> groups;
  To to;
  F f;
  Others load_others;
  Loaded others = {};

  template <class B>
  __device__ __forceinline__ static std::size_t first_of(const B& batch, int k) {
    return std::size_t{batch.group(k)} * Groups<T>::whole;
  }
  template <class B>
  __device__ __forceinline__ void begin(const B& batch) {
    reduced.begin(batch);
    if constexpr (early) {
      if (batch.groups() > 0) others = load_others.template operator()<n, true>(first_of(batch, 0));
    }
  }
  template <class B>
  __device__ __forceinline__ void take(const B& batch, int rank, bool mine,
                                       const PacketRun<depth>& run) {
    reduced.take(batch, rank, mine, run);
  }
  template <class B>
  __device__ __forceinline__ void end(const B& batch) {
#pragma unroll
    for (int k = 0; k < depth; ++k) {
      if (k >= batch.groups()) continue;
      if constexpr (wide) {
        end_wide(first_of(batch, k), reduced.total[k]);
      } else {
        end_ragged(first_of(batch, k), groups.size(batch.group(k)), reduced.total[k]);
      }
    }
  }

 private:
  __device__ __forceinline__ void end_wide(std::size_t first, const Accumulator<T> (&total)[n]) {
    if constexpr (!early) others = load_others.template operator()<n, true>(first);
    Accumulator<T> result[n];
#pragma unroll
    for (int i = 0; i < n; ++i) {
      result[i] = static_cast<Accumulator<T>>(
          others.apply(f, i, reduced.op.finish(total[i], reduced.operands)));
    }
    store_pack(to, first, WidePack<T, n>::of(result));
  }
  // Short code rather than quick: an element after the other.
  __device__ __forceinline__ void end_ragged(std::size_t first, unsigned count,
                                             const Accumulator<T> (&total)[n]) {
#pragma unroll 1
    for (unsigned i = 0; i < count; ++i) {
      Accumulator<T> one = total[0];
#pragma unroll
      for (unsigned k = 1; k < n; ++k) one = k == i ? total[k] : one;
      const auto more = load_others.template operator()<1, false>(first + i);
      const auto result = more.apply(f, 0, reduced.op.finish(one, reduced.operands));
      to.store(first + i, narrow<T>(static_cast<Accumulator<T>>(result)));
    }
  }
};

// Stores each member's groups in its place.
template <class T, class Own, int depth_>
struct StoredRun {
  static constexpr int depth = depth_;
  Own own;
  T* to;
  std::size_t stride;

  template <class B>
  __device__ __forceinline__ void begin(const B& batch) {
    own.load(batch);
  }
  template <class B>
  __device__ __forceinline__ void take(const B& batch, int rank, bool mine,
                                       const PacketRun<depth>& run) {
    T* const place = to + static_cast<std::size_t>(rank) * stride;
#pragma unroll
    for (int k = 0; k < depth; ++k) {
      if (k < batch.groups()) own.store(place, batch.group(k), mine ? own.get(k) : run.get(k));
    }
  }
  template <class B>
  __device__ __forceinline__ void end(const B&) {}
};

}  // namespace sym::cuda
