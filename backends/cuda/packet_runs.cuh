// What becomes of a lane's groups once their packets have come: visitors of
// CudaBlock::take_batches. Each knows how many groups it takes at a time (`depth`), and how they
// are loaded and stored.
#pragma once

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
