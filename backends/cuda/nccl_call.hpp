// One call of an NCCL collective, by names.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "backends/cuda/cuda_world.hpp"

namespace sym::cuda {

// NCCL's own collectives on windows of a World: a candidate beside ours. Owns a communicator.
class NcclCalls {
 public:
  // [collective] Throws Unavailable where several PEs share a GPU, which NCCL refuses. `world` must
  // outlive it.
  explicit NcclCalls(CudaWorld& world);
  ~NcclCalls();
  NcclCalls(const NcclCalls&) = delete;
  NcclCalls& operator=(const NcclCalls&) = delete;

  // Enqueues on the World's stream 0; may be captured. call: all_reduce, all_gather,
  // reduce_scatter, all_to_all or broadcast, `count` elements of its smaller side; type: bf16, f16,
  // f32, f64, i32, i64, u8; op: sum, prod, max, min, avg. Unknown names: UsageError.
  struct Call {
    std::string name, type, op;
    std::size_t count = 0;
    int root = 0;
  };
  template <class T>
  void enqueue(const Call& call, Window<T> in, Window<T> out) {
    enqueue_at(call, world_.address(in), world_.address(out));
  }

 private:
  void enqueue_at(const Call& call, const void* in, void* out);

  CudaWorld& world_;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sym::cuda
