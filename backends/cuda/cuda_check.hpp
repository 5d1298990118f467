// Every CUDA and NCCL return code goes through one of these. For .cpp and .cu files of this folder.
#pragma once

#include <cuda_runtime_api.h>
#include <nccl.h>

#include <string>

#include "core/error.hpp"

namespace sym::cuda {

inline std::string where(const char* call, const char* file, int line) {
  return std::string(call) + " at " + file + ":" + std::to_string(line);
}

inline void check_cuda(cudaError_t status, const char* call, const char* file, int line) {
  if (status == cudaSuccess) return;
  (void)cudaGetLastError();  // an error of this call alone must not be met again by the next one
  const std::string what =
      std::string("CUDA: ") + cudaGetErrorString(status) + ", from " + where(call, file, line);
  if (status == cudaErrorNoDevice || status == cudaErrorInsufficientDriver ||
      status == cudaErrorNoKernelImageForDevice) {
    throw Unavailable(what);
  }
  throw Error(what);
}

inline void check_nccl(ncclResult_t status, const char* call, const char* file, int line) {
  if (status == ncclSuccess) return;
  throw Error(std::string("NCCL: ") + ncclGetErrorString(status) + " (" +
              ncclGetLastError(nullptr) + "), from " + where(call, file, line));
}

}  // namespace sym::cuda

#define SYM_CHECK_CUDA(call) ::sym::cuda::check_cuda((call), #call, __FILE__, __LINE__)
#define SYM_CHECK_NCCL(call) ::sym::cuda::check_nccl((call), #call, __FILE__, __LINE__)
