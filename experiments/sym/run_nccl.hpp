// run_nccl: one point of a collective as NCCL's own call on our windows: fill, run, verify, time.
// On GPUs alone; no kernel of ours.
#pragma once

#include "backends/cuda/nccl_call.hpp"
#include "experiments/sym/collective_run.hpp"

namespace sym::command {

template <class T>
class NcclRun : private CollectiveRun<cuda::CudaWorld, T> {
  using Base = CollectiveRun<cuda::CudaWorld, T>;

 public:
  // NCCL states no order of a sum.
  NcclRun(cuda::CudaWorld& world, const Point& point) : Base(world, point, false), nccl_(world) {}

  PointResult run() {
    return Base::run_with(0, 0, [this]<class Op>() {
      const Point& point = this->point_;
      const cuda::NcclCalls::Call call{point.algorithm, point.dtype, point.op, this->count(),
                                       point.root};
      nccl_.enqueue(call, this->in_, this->out_);  // connects; a capture could not
      this->world_.synchronize();
      this->template verify_and_time_calls<Op>([&] { nccl_.enqueue(call, this->in_, this->out_); });
    });
  }

 private:
  cuda::NcclCalls nccl_;
};

}  // namespace sym::command
