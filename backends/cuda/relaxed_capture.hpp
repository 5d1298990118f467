// RelaxedCapture: what a capture forbids its thread out of caution, allowed for a while.
#pragma once

#include "backends/cuda/cuda_check.hpp"

namespace sym::cuda {

// While it lives, this thread may allocate and load kernels though it is capturing. Nothing that is
// done meanwhile may touch the captured streams otherwise than by enqueueing.
class RelaxedCapture {
 public:
  RelaxedCapture() { SYM_CHECK_CUDA(cudaThreadExchangeStreamCaptureMode(&mode_)); }
  ~RelaxedCapture() { (void)cudaThreadExchangeStreamCaptureMode(&mode_); }
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;

 private:
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

}  // namespace sym::cuda
