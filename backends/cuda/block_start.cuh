// BlockStart: what a block is before its verbs: its launch's beginning, whether it has failed, and
// when its lanes have met.
#pragma once

#include "backends/cuda/access.cuh"
#include "backends/cuda/report.cuh"

namespace sym::cuda {

class BlockStart : protected Access {
 protected:
  using Access::Access;

  __device__ __forceinline__ static bool in_control_warp() { return threadIdx.x < 32; }
  __device__ __forceinline__ static bool is_claimer() { return threadIdx.x == blockDim.x - 1; }

  // A CTA barrier, unless the lanes have met and no verb has touched anything since.
  __device__ __forceinline__ void meet() {
    if (met_) return;
    __syncthreads();
    met_ = true;
    took_ = false;
  }

  // False, and the block failed, unless every range and the peer are within bounds. Uniform.
  template <class... M>
  __device__ __forceinline__ bool admit(const char* verb, Site site, Range range, int pe,
                                        M... memory) {
    met_ = false;
    if (failed_) return false;
    if (is_pe(pe) && within(range, memory...)) [[likely]] {
      begin();
      return true;
    }
    refuse(verb, site, range.first, pe, least_room(memory...), range.end());
    return false;
  }
  __device__ __forceinline__ bool admit_slot(const char* verb, Site site, const Signals& signals,
                                             std::size_t slot) {
    met_ = false;
    if (failed_) return false;
    if (slot < signals.slots) [[likely]] {
      begin();
      return true;
    }
    refuse(verb, site, slot, -1, signals.slots, slot);
    return false;
  }
  __device__ __forceinline__ void refuse(const char* verb, Site site, std::size_t slot, int peer,
                                         std::uint64_t allowed, std::uint64_t given) {
    fail(Finding{FailureKind::refused, verb, site, slot, peer, allowed, given});
  }
  // Uniform, or by the same lanes of every warp. The first lane on this PE is reported.
  __device__ __forceinline__ void fail(const Finding& finding) {
    failed_ = true;
    if (in_control_warp()) detail::report(context_, finding);
  }

  // A launch begins with its stream's history. One that was set up early waits for it here, before
  // it first touches memory: what it computes until then costs no time.
  __device__ __forceinline__ void await_history() {
    if (begun_) return;
    begun_ = true;
    ptx::await_launches_before();
    ptx::let_next_launch_begin();  // not sooner: no more than one is to wait
  }
  // And asks what gates the first wait: whether this PE had failed, and for the claim.
  __device__ __forceinline__ void begin() {
    await_history();
    if (asked_) return;
    asked_ = true;
    if (in_control_warp()) stale_ = ptx::load_relaxed_gpu(context_.failed);
    make_claim();
  }
  // The claimer's, of a busy word: made when the launch begins, answered for by claimed_by_other().
  __device__ __forceinline__ void claim(std::uint64_t* busy) {
    if (is_claimer()) claimed_ = busy;
    if (asked_) make_claim();
  }
  // True in one lane if its enter() found the row claimed. Reports it.
  __device__ __forceinline__ bool claimed_by_other(Site site) {
    if (!is_claimer() || claim_ == 0) [[likely]]
      return false;
    detail::report(context_, Finding{FailureKind::busy, "enter", site, blockIdx.x, -1, 0, 1});
    return true;
  }

  bool failed_ = false;  // uniform over the block
  bool met_ = false;     // uniform: see meet()
  bool took_ = false;    // uniform: counts of messages taken were written since the last barrier
  std::uint32_t stale_ = 0;  // control warp: this PE had failed before this kernel

 private:
  __device__ __forceinline__ void make_claim() {
    if (claimed_ != nullptr) claim_ = ptx::exchange_relaxed_gpu(claimed_, 1);
    claimed_ = nullptr;
  }

  bool begun_ = false;                // uniform: what was before this launch has ended
  bool asked_ = false;                // uniform: see begin()
  std::uint64_t* claimed_ = nullptr;  // the claimer: the busy word that it has yet to claim
  std::uint64_t claim_ = 0;           // the claimer: what the busy word held before
};

}  // namespace sym::cuda
