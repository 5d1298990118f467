// CudaBlock's counts, offsets and weighted sums, and its warps. Included by cuda_block.cuh, which
// declares them.
#pragma once

#include "backends/cuda/count_lanes.cuh"
#include "backends/cuda/cuda_block.cuh"
#include "backends/cuda/warp_piece.cuh"
#include "backends/cuda/weigh_lanes.cuh"

namespace sym::cuda {

template <Memory S>
__device__ __forceinline__ typename S::value_type CudaBlock::read(S memory, std::size_t index,
                                                                  Site site) {
  if (!admit("read", site, Range{index, 1}, context_.pe, memory)) return {};
  return view(memory, index).load(0);
}

template <Operand K>
__device__ bool CudaBlock::tally(Scratch<std::uint32_t> counts, K keys, Range range, Site site) {
  if (!admit("tally", site, counts.all(), context_.pe, counts)) return true;
  if (!admit("tally", site, range, context_.pe, keys)) return true;
  using T = typename K::value_type;
  __syncthreads();
  const bool sound = tally_lanes<T>(scratch_at(counts), static_cast<std::uint32_t>(counts.count),
                                    own(keys) + range.first, range.count);
  return __syncthreads_and(sound ? 1 : 0) != 0;
}

template <Operand K, Memory P>
__device__ void CudaBlock::tally(Scratch<std::uint32_t> counts, K keys, Range range, P places,
                                 Site site) {
  if (!admit("tally", site, counts.all(), context_.pe, counts)) return;
  if (!admit("tally", site, range, context_.pe, keys, places)) return;
  using T = typename K::value_type;
  __syncthreads();
  place_lanes<T>(scratch_at(counts), static_cast<std::uint32_t>(counts.count),
                 own(keys) + range.first, range.count, view(places, range.first));
  __syncthreads();
}

template <Memory D, Memory S, class F>
__device__ typename D::value_type CudaBlock::scan(D dst, S src, Range range, F f, Site site) {
  using T = typename D::value_type;
  static_assert(std::is_unsigned_v<T> && (sizeof(T) == 4 || sizeof(T) == 8),
                "scan is over unsigned integers of 32 or 64 bits");
  if (!admit("scan", site, range, context_.pe, dst, src)) return {};
  __syncthreads();
  return scan_lanes(view(dst, range.first), range.count, f, view(src, range.first));
}

template <Operand D, class T, class F>
__device__ void CudaBlock::weighted_sum(D dst, Window<T> src, Range range, int n, F term,
                                        Site site) {
  static_assert(std::is_same_v<typename D::value_type, T>, "the sum keeps the element type");
  if (!admit("weighted_sum", site, range, context_.pe, dst)) return;
  const Terms<T> terms = look_at_terms(src, range, n, term, [&](const Term& one) {
    refuse("weighted_sum", site, one.first + range.first, one.pe, src.count,
           one.first + range.end());
  });
  // Terms may read, and so fail, in one lane; it is the same lane of every warp.
  failed_ = __any_sync(all_lanes, failed_) != 0;
  if (failed_) return;
  weigh_lanes<BlockLanes>(own(dst) + range.first, range.count, n, terms,
                          [&](int j) { return addend(term(j), src, range); });
}

template <Operand D, Operand S, class T, class Op>
__device__ void CudaBlock::reduce_slots(D dst, S mine, PerMember<Window<T>> slots, Range range,
                                        const Team& team, Op op, Site site) {
  static_assert(std::is_same_v<typename D::value_type, T>, "reduce_slots keeps the element type");
  static_assert(std::is_same_v<typename S::value_type, T>, "reduce_slots keeps the element type");
  const int ranks = team.size();
  const Range last{static_cast<std::size_t>(ranks - 1) * slots.stride + range.first, range.count};
  if (!admit("reduce_slots", site, range, context_.pe, dst, mine)) return;
  if (ranks > 1 && !admit("reduce_slots", site, last, context_.pe, slots.first)) return;
  const int rank_here = team.rank();
  const T* const own_part = own(mine) + range.first;
  const T* const first_slot = own(slots.first) + range.first;
  const auto from = [=, stride = slots.stride](int rank) {
    return rank == rank_here ? own_part : first_slot + static_cast<std::size_t>(rank) * stride;
  };
  constexpr int n = Shared<T>::elements;
  const bool spaced = slots.stride * sizeof(T) % static_cast<unsigned>(wide_unit<T, n>) == 0;
  const bool aligned =
      fits_wide<T, n>(own_part) && (ranks == 1 || (spaced && fits_wide<T, n>(first_slot)));
  reduce_lanes<T>(own(dst) + range.first, range.count, ranks, aligned, from, op);
}

template <class F>
__device__ __forceinline__ void CudaBlock::warps(std::size_t n, F f, Site site) {
  if (failed_) return;
  begin();
  met_ = false;
  __syncthreads();
  WarpPiece piece(context_, quiet_owed_, site);
#pragma unroll 1
  for (std::size_t i = threadIdx.x / 32; i < n; i += blockDim.x / 32) {
    f(piece, i);
    __syncwarp();
  }
  unreleased_ = true;
  // A warp that put nothing has not paid the fence: quiet_owed_ stays.
  failed_ = __syncthreads_or(piece.refused() ? 1 : 0) != 0;
}

}  // namespace sym::cuda
