// Bias, residual and RMSNorm in one kernel by hand, as serving engines have it: what a fused
// all-reduce is compared with, behind NCCL's all-reduce.
#pragma once

#include <cstddef>
#include <string>

struct CUstream_st;

namespace sym::cuda {

// out = x / sqrt(mean(x^2) + epsilon) * weight for each row of x = in + residual + bias; the
// residual gets x. `in` and `out` may be the same. Device pointers, aligned to 16 bytes; no
// residual where it is null.
struct PlainNorm {
  std::size_t rows = 0;
  std::size_t hidden = 0;
  const void* in = nullptr;
  void* out = nullptr;
  void* residual = nullptr;
  const void* bias = nullptr;
  const void* weight = nullptr;
  float epsilon = 1e-6F;
};

// type: bf16, f16 or f32; another one, or more than 16384 elements a row: UsageError. Asynchronous.
void rms_norm_plain(const PlainNorm& norm, const std::string& type, CUstream_st* stream);

}  // namespace sym::cuda
