// CudaBlock's packets. Included by cuda_block.cuh, which declares them.
#pragma once

#include "backends/cuda/cuda_block.cuh"

namespace sym::cuda {

template <Operand S>
__device__ void CudaBlock::put_packets(const Packets& packets, std::size_t slot, S src, Range range,
                                       const Team& team, Site site) {
  using T = typename S::value_type;
  if (!admit("put_packets", site, range, context_.pe, src)) return;
  if (!admit_packets("put_packets", site, packets, slot, range.count * sizeof(T))) return;
  const T* from = own(src) + range.first;
  const bool wide = fits_wide<T, Shared<T>::elements>(from);
  std::uint64_t* sent = own(packets.lanes.sent);
#pragma unroll 1
  for (int hop = 1; hop <= team.size(); ++hop) {
    const int peer = team.pe((team.rank() + hop) % team.size());
    if (peer == context_.pe) continue;
    const std::uint64_t epoch = sent[packets.lanes.word(slot, peer)] + 1;
    const std::uint32_t flag = packet_flag(epoch);
    char* to = message(packets, slot, context_.pe, epoch, peer);
    each_packet_group(Shared<T>(range.count), [&](std::size_t g, int elements) {
      const ptx::Words4 data = load_group(from + g * granule<T>, elements, wide);
      const std::uint32_t last = g == 0 ? tagged_flag(flag, packets.lanes.tag) : flag;
      PacketPair::of(data, flag, last).store(to + g * 32);
    });
  }
  __syncthreads();  // every lane has read what it sent so far
  for (int r = static_cast<int>(threadIdx.x); r < team.size(); r += static_cast<int>(blockDim.x)) {
    if (team.pe(r) != context_.pe) ++sent[packets.lanes.word(slot, team.pe(r))];
  }
}

// One lane: polls a group until both its packets show the flag. False, and reported, as poll().
__device__ __forceinline__ bool CudaBlock::await_packets(PacketPair& pair, const char* cell,
                                                         std::uint32_t flag, std::uint32_t last,
                                                         std::size_t slot, int peer,
                                                         Site site) const {
  std::uint64_t started_ns = 0;
#pragma unroll 1
  for (unsigned polls = 1; !pair.has_come(flag, last); ++polls) {
    pair = PacketPair::load(cell);
    if (polls % 256 != 0) continue;
    if (ptx::load_relaxed_gpu(context_.failed) != 0) return false;
    const std::uint64_t now_ns = ptx::global_timer_ns();
    if (started_ns == 0) started_ns = now_ns;
    if (last != flag && pair.is_other(flag) && polls > 4096) {
      detail::report(context_, Finding{FailureKind::mismatch, "reduce_packets", site, slot, peer,
                                       last, pair.second.w[3]});
      return false;
    }
    if (context_.wait_limit_ns == 0 || now_ns - started_ns < context_.wait_limit_ns) continue;
    detail::report(context_, Finding{FailureKind::expired, "reduce_packets", site, slot, peer, flag,
                                     pair.first.w[1]});
    return false;
  }
  return true;
}

template <Operand D, Operand S, class Op>
__device__ bool CudaBlock::reduce_packets(D dst, S mine, Range range, const Packets& packets,
                                          std::size_t slot, const Team& team, Op op, Site site) {
  using T = typename D::value_type;
  static_assert(std::is_same_v<typename S::value_type, T>, "reduce_packets keeps the element type");
  constexpr int n = Shared<T>::elements;
  constexpr int at_once = 4;  // peers whose packets are in flight together
  if (!admit("reduce_packets", site, range, context_.pe, dst, mine)) return false;
  if (!admit_packets("reduce_packets", site, packets, slot, range.count * sizeof(T))) return false;
  T* to = own(dst) + range.first;
  const T* from = own(mine) + range.first;
  const bool wide_to = fits_wide<T, n>(to);
  const bool wide_from = fits_wide<T, n>(from);
  std::uint64_t* seen = own(packets.lanes.seen);
  const int size = team.size();
  bool arrived = !claimed_by_other(site) && (!in_control_warp() || stale_ == 0);
  each_packet_group(Shared<T>(range.count), [&](std::size_t g, int elements) {
    Accumulator<T> total[n];
#pragma unroll 1
    for (int r = 0; r < size && arrived; r += at_once) {
      PacketPair pair[at_once];
      const char* cell[at_once];
      std::uint32_t flag[at_once];
#pragma unroll
      for (int k = 0; k < at_once; ++k) {
        if (r + k >= size) continue;
        const int peer = team.pe(r + k);
        if (peer == context_.pe) {
          pair[k] = PacketPair::of(load_group(from + g * granule<T>, elements, wide_from), 0, 0);
          continue;
        }
        const std::uint64_t epoch = seen[packets.lanes.word(slot, peer)] + 1;
        flag[k] = packet_flag(epoch);
        cell[k] = message(packets, slot, peer, epoch, context_.pe) + g * 32;
        pair[k] = PacketPair::load(cell[k]);
      }
#pragma unroll
      for (int k = 0; k < at_once; ++k) {
        if (r + k >= size) continue;
        const int peer = team.pe(r + k);
        if (peer != context_.pe) {
          const std::uint32_t last = g == 0 ? tagged_flag(flag[k], packets.lanes.tag) : flag[k];
          arrived = arrived && await_packets(pair[k], cell[k], flag[k], last, slot, peer, site);
        }
        WidePack<T, n> pack;
        const ptx::Words4 data = pair[k].data();
#pragma unroll
        for (int i = 0; i < WidePack<T, n>::words; ++i) pack.w[i] = data.w[i];
        take(total, pack, r + k == 0, op);
      }
    }
    if (!arrived) return;
#pragma unroll
    for (int i = 0; i < n; ++i) total[i] = op.finish(total[i], size);
    const auto result = WidePack<T, n>::of(total);
    T* place = to + g * granule<T>;
    if (wide_to && elements == n) {
      result.store(place);
    } else {
#pragma unroll 1
      for (int i = 0; i < elements; ++i) {
        memcpy(place + i, reinterpret_cast<const char*>(result.w) + i * sizeof(T), sizeof(T));
      }
    }
  });
  failed_ = __syncthreads_and(arrived) == 0;
  if (failed_) return false;
  for (int r = static_cast<int>(threadIdx.x); r < size; r += static_cast<int>(blockDim.x)) {
    if (team.pe(r) != context_.pe) ++seen[packets.lanes.word(slot, team.pe(r))];
  }
  return true;
}

}  // namespace sym::cuda
