// CudaBlock's signals and waits. Included by cuda_block.cuh, which declares them.
#pragma once

#include "backends/cuda/cuda_block.cuh"

namespace sym::cuda {

// One signal to every member but `skip`. Begins with a sync.
__device__ __forceinline__ void CudaBlock::send(const char* verb, const Signals& signals,
                                                std::size_t slot, const Team& team, int skip,
                                                Site site) {
  if (!admit_slot(verb, site, signals, slot)) return;
  const int self = context_.pe;
  const bool counter = signals.lanes == 1;  // plain counters
  const int lane = static_cast<int>(threadIdx.x);
  std::uint64_t* sent = own(signals.sent);
  // Loaded before the barrier, off the critical path.
  if (in_control_warp() && !counter) {
    if (lane < team.size()) {
      recall(signals, slot, team.pe(lane));
    } else {
      drop_others_peer(signals, slot, team);
    }
  }
  __syncthreads();
  unreleased_ = quiet_owed_ = fence_owed_ = false;
  if (!in_control_warp()) return;
  ptx::fence_system();
#pragma unroll 1
  for (int r = lane; r < team.size(); r += 32) {
    const int peer = team.pe(r);
    if (peer == skip) continue;
    std::uint64_t* word = at(signals.words, peer) + signals.word(slot, counter ? 0 : self);
    if (counter) {
      ptx::add_relaxed_system(word, 1);
    } else {
      std::uint64_t& last = sent[signals.word(slot, peer)];
      const std::uint64_t epoch = (r == lane ? row_.sent : last) + 1;
      ptx::store_relaxed_system(word, signals.tagged ? tagged_word(epoch, signals.tag) : epoch);
      last = epoch;
      if (r == lane) row_.sent = epoch;
    }
  }
  __syncwarp();
}

// One lane: polls a word until it shows `expected`. False, and reported, if it does not by the
// deadline or shows the epoch with another tag; false also once this PE has failed elsewhere.
__device__ __forceinline__ bool CudaBlock::poll(const char* verb, const std::uint64_t* word,
                                                const Signals& signals, std::uint64_t expected,
                                                std::uint64_t& seen, std::size_t slot, int peer,
                                                Site site) const {
  std::uint64_t started_ns = 0;
#pragma unroll 1
  for (unsigned polls = 1;; ++polls) {
    const std::uint64_t value = ptx::load_acquire_system(word);
    seen = signals.tagged ? epoch_of(value) : value;
    const bool come = signals.lanes == 1 ? value >= expected
                                         : has_come(value, expected, signals.tagged ? tag_bits : 0);
    if (come) {
      // A later epoch is a peer that is one operation ahead: it came past this one, with our
      // signal.
      if (!signals.tagged || !shows(value, expected) || tag_of(value) == signals.tag) return true;
      detail::report(context_, Finding{FailureKind::mismatch, verb, site, slot, peer, signals.tag,
                                       tag_of(value)});
      return false;
    }
    if (polls % 256 != 0) continue;
    if (ptx::load_relaxed_gpu(context_.failed) != 0) return false;
    const std::uint64_t now_ns = ptx::global_timer_ns();
    if (started_ns == 0) started_ns = now_ns;
    if (context_.wait_limit_ns == 0 || now_ns - started_ns < context_.wait_limit_ns) continue;
    detail::report(context_, Finding{FailureKind::expired, verb, site, slot, peer, expected, seen});
    return false;
  }
}

__device__ __forceinline__ bool CudaBlock::wait_until(const Signals& signals, std::size_t slot,
                                                      const Team& team, Site site) {
  if (!admit_slot("wait_until", site, signals, slot)) return false;
  bool arrived = !claimed_by_other(site);
  if (in_control_warp()) {
    arrived = arrived && stale_ == 0;
    const std::uint64_t* words = own(signals.words);
    std::uint64_t* consumed = own(signals.seen);
    drop_others_peer(signals, slot, team);
#pragma unroll 1
    for (int r = static_cast<int>(threadIdx.x); arrived && r < team.size(); r += 32) {
      const int peer = team.pe(r);
      if (peer == context_.pe) continue;
      const std::size_t word = signals.word(slot, peer);
      const bool known = row_.key == row_key(signals, slot, peer);
      const std::uint64_t expected = (known ? row_.seen : consumed[word]) + 1;
      std::uint64_t seen = 0;
      arrived = poll("wait_until", words + word, signals, expected, seen, slot, peer, site);
      if (!arrived) continue;
      consumed[word] = expected;
      if (known) row_.seen = expected;
    }
    __syncwarp();
  }
  failed_ = __syncthreads_and(arrived) == 0;
  return !failed_;
}

__device__ __forceinline__ std::uint64_t CudaBlock::wait_until(const Signals& signals,
                                                               std::size_t slot,
                                                               std::uint64_t value, Site site) {
  if (!admit_slot("wait_until", site, signals, slot)) return 0;
  bool arrived = !claimed_by_other(site);
  std::uint64_t seen = 0;
  if (in_control_warp()) {
    arrived = arrived && stale_ == 0;
    if (arrived && threadIdx.x == 0) {
      arrived = poll("wait_until", own(signals.words) + signals.word(slot, 0), signals, value, seen,
                     slot, -1, site);
    }
    __syncwarp();
  }
  failed_ = __syncthreads_and(arrived) == 0;
  seen = tell_all(seen);
  return failed_ ? 0 : seen;
}

__device__ __forceinline__ std::uint64_t CudaBlock::test(const Signals& signals, std::size_t slot,
                                                         Site site) {
  if (!admit_slot("test", site, signals, slot)) return 0;
  std::uint64_t seen = 0;
  if (threadIdx.x == 0) seen = ptx::load_acquire_system(own(signals.words) + signals.word(slot, 0));
  return tell_all(seen);
}

}  // namespace sym::cuda
