// The kernels of CudaQueue::post and take.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/cuda/failure.hpp"
#include "core/function.hpp"

struct CUstream_st;

namespace sym::cuda {

// What a flag's kernel needs to know, by value: text too, because a device cannot read the host's.
struct FlagUse {
  std::uint64_t* word = nullptr;  // as kernels address it
  std::size_t slot = 0;
  int peer = 0;
  int line = 0;
  char file[FailureRecord::text_size] = {};

  // The end of the file's name says more than its beginning.
  static FlagUse of(std::uint64_t* word, std::size_t slot, int peer, Site site);
};

// Has CUDA load both kernels. A kernel that is loaded while another waits would wait for it.
void load_flag_kernels();

void enqueue_post(const KernelContext& context, const FlagUse& use, CUstream_st* stream);
void enqueue_take(const KernelContext& context, const FlagUse& use, CUstream_st* stream);

}  // namespace sym::cuda
