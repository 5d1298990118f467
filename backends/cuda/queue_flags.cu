// Flags between queues. A kernel's beginning acquires, and its end releases, everything in its
// stream for this device; what they have to add is the system scope, for peers.
//
// Both are kernels of one warp, and not the stream's own memory operations, because those cannot be
// given up: a wait in a kernel ends at the World's limit. A take may spin while a matrix product
// runs on another queue; it must fit beside it, and products use all registers of an SM but 32 for
// each lane of a warp.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstring>

#include "backends/cuda/cuda_check.hpp"
#include "backends/cuda/queue_flags.hpp"
#include "backends/cuda/report.cuh"

namespace sym::cuda {

namespace {

constexpr int flag_registers = 32;

__device__ Finding finding_of(FailureKind kind, const char* verb, const FlagUse& use,
                              std::uint64_t seen) {
  const std::uint64_t expected = kind == FailureKind::expired ? 1 : 0;
  return Finding{kind, verb, Site{use.file, use.line}, use.slot, use.peer, expected, seen};
}

// Sets a peer's flag, after everything that this stream did before, wherever it wrote.
__global__ void __maxnreg__(flag_registers)
    post_kernel(const __grid_constant__ KernelContext context,
                const __grid_constant__ FlagUse use) {
  if (threadIdx.x != 0 || ptx::load_relaxed_gpu(context.failed) != 0) return;
  ptx::fence_system();
  const std::uint64_t before = ptx::exchange_relaxed_system(use.word, 1);
  if (before == 0) return;
  Finding finding = finding_of(FailureKind::refused, "post", use, before);
  finding.what = "a post on a flag that has not been taken";
  detail::report(context, finding);
}

// Waits for this PE's flag and clears it. False ends: the limit has passed, or the PE has failed.
__global__ void __maxnreg__(flag_registers)
    take_kernel(const __grid_constant__ KernelContext context,
                const __grid_constant__ FlagUse use) {
  if (threadIdx.x != 0) return;
  std::uint64_t started_ns = 0;
#pragma unroll 1
  for (unsigned polls = 1; ptx::load_acquire_system(use.word) == 0; ++polls) {
    if (polls % 256 != 1) continue;
    if (ptx::load_relaxed_gpu(context.failed) != 0) return;
    const std::uint64_t now_ns = ptx::global_timer_ns();
    if (started_ns == 0) started_ns = now_ns;
    if (context.wait_limit_ns == 0 || now_ns - started_ns < context.wait_limit_ns) continue;
    detail::report(context, finding_of(FailureKind::expired, "take", use, 0));
    return;
  }
  if (ptx::load_relaxed_gpu(context.failed) != 0) return;
  ptx::store_relaxed_system(use.word, 0);
  ptx::fence_system();
}

}  // namespace

FlagUse FlagUse::of(std::uint64_t* word, std::size_t slot, int peer, Site site) {
  FlagUse use;
  use.word = word;
  use.slot = slot;
  use.peer = peer;
  use.line = site.line;
  const std::size_t length = std::strlen(site.file);
  const std::size_t kept = std::min<std::size_t>(length, FailureRecord::text_size - 1);
  std::memcpy(use.file, site.file + (length - kept), kept);
  return use;
}

void load_flag_kernels() {
  cudaFuncAttributes attributes{};  // asking for them loads the kernel
  SYM_CHECK_CUDA(cudaFuncGetAttributes(&attributes, post_kernel));
  SYM_CHECK_CUDA(cudaFuncGetAttributes(&attributes, take_kernel));
}

void enqueue_post(const KernelContext& context, const FlagUse& use, CUstream_st* stream) {
  post_kernel<<<1, 32, 0, stream>>>(context, use);
  SYM_CHECK_CUDA(cudaGetLastError());
}

void enqueue_take(const KernelContext& context, const FlagUse& use, CUstream_st* stream) {
  take_kernel<<<1, 32, 0, stream>>>(context, use);
  SYM_CHECK_CUDA(cudaGetLastError());
}

}  // namespace sym::cuda
