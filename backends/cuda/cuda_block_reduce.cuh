// CudaBlock's reductions with an element function, and of tiles. Included by cuda_block.cuh, which
// declares them.
#pragma once

#include "backends/cuda/cuda_block.cuh"
#include "backends/cuda/reduce_lanes.cuh"

namespace sym::cuda {

template <Memory D, class T, class Op, class F, Memory... S>
__device__ __forceinline__ void CudaBlock::reduce(D dst, Window<T> src, RangeAt where,
                                                  const Team& team, Op op, F f, S... more) {
  static_assert(std::is_same_v<typename D::value_type, T>, "reduce keeps the element type");
  const Range range = where.range;
  if (!admit("reduce", where.site, range, context_.pe, dst, src, more...)) return;
  const std::size_t skip = src.offset_bytes + range.first * sizeof(T);
  const auto from = [this, skip, &team](int rank) {
    return reinterpret_cast<const T*>(heap(team.pe(rank)) + skip);
  };
  const bool aligned = skip % static_cast<unsigned>(wide_unit<T, Shared<T>::elements>) == 0;
  reduce_map_lanes(view(dst, range.first), range.count, team.size(), aligned, from, op, f,
                   view(more, range.first)...);
}

template <class T, class Op>
__device__ __forceinline__ void CudaBlock::reduce(Matrix<T> dst, Matrix<T> src, const Team& team,
                                                  Op op, Site site) {
  if (failed_) return;
  const bool fits = dst.rows == src.rows && dst.cols == src.cols && dst.ld >= dst.cols &&
                    src.ld >= src.cols && dst.cols < (std::size_t{1} << 31);
  if (!fits) return refuse("reduce", site, 0, -1, dst.rows * dst.cols, src.rows * src.cols);
  if (!admit("reduce", site, Range{0, dst.span()}, context_.pe, dst.data)) return;
  if (!admit("reduce", site, Range{0, src.span()}, context_.pe, src.data)) return;
  __syncthreads();
  if (dst.span() > 0) {
    constexpr std::size_t unit = wide_unit<T, Shared<T>::elements>;
    const auto from = [this, &src, &team](int rank) {
      return static_cast<const T*>(at(src.data, team.pe(rank)));
    };
    const bool aligned = src.data.offset_bytes % unit == 0 && dst.data.offset_bytes % unit == 0 &&
                         src.ld * sizeof(T) % unit == 0 && dst.ld * sizeof(T) % unit == 0;
    reduce_tile_lanes(TileRows<T>{own(dst.data), dst.ld, src.ld, dst.rows, 0}, dst.cols, aligned,
                      team.size(), from, op);
  }
  __syncthreads();
}

// As the plain form; what f needs besides is loaded while the messages are on their way.
template <Memory D, Operand S, class Op, class F, Memory... More>
__device__ __forceinline__ bool CudaBlock::reduce_packets(D dst, S mine, RangeAt where,
                                                          const Packets& packets, std::size_t slot,
                                                          const Team& team, Op op, F f,
                                                          More... more) {
  using T = typename D::value_type;
  static_assert(std::is_same_v<typename S::value_type, T>, "reduce_packets keeps the element type");
  constexpr int n = Shared<T>::elements;
  const Range range = where.range;
  if (!admit("reduce_packets", where.site, range, context_.pe, dst, mine, more...)) return false;
  if (!admit_packets("reduce_packets", where.site, packets, slot, range.count * sizeof(T)))
    return false;
  const auto to = view(dst, range.first);
  const T* from = own(mine) + range.first;
  const bool wide_from = fits_wide<T, n>(from);
  const bool wide = view_fits<n>(to) && (view_fits<n>(view(more, range.first)) && ...);
  std::uint64_t* seen = own(packets.lanes.seen);
  const int size = team.size();
  bool arrived = !claimed_by_other(where.site) && (!in_control_warp() || stale_ == 0);
  // Adds up a group; false if a message did not come.
  const auto total_of = [&](std::size_t g, int elements, Accumulator<T>(&total)[n]) {
#pragma unroll 1
    for (int r = 0; r < size && arrived; ++r) {
      const int peer = team.pe(r);
      PacketPair pair;
      if (peer == context_.pe) {
        pair = PacketPair::of(load_group(from + g * granule<T>, elements, wide_from), 0, 0);
      } else {
        const std::uint64_t epoch = seen[packets.lanes.word(slot, peer)] + 1;
        const std::uint32_t flag = packet_flag(epoch);
        const std::uint32_t last = g == 0 ? tagged_flag(flag, packets.lanes.tag) : flag;
        const char* cell = message(packets, slot, peer, epoch, context_.pe) + g * 32;
        pair = PacketPair::load(cell);
        arrived = await_packets(pair, cell, flag, last, slot, peer, where.site);
      }
      WidePack<T, n> pack;
      const ptx::Words4 data = pair.data();
#pragma unroll
      for (int i = 0; i < WidePack<T, n>::words; ++i) pack.w[i] = data.w[i];
      take(total, pack, r == 0, op);
    }
#pragma unroll
    for (int i = 0; i < n; ++i) total[i] = op.finish(total[i], size);
  };
  each_packet_group(Shared<T>(range.count), [&](std::size_t g, int elements) {
    Accumulator<T> total[n];
    const std::size_t first = g * granule<T>;
    if (wide && elements == n) {
      using Others = ViewPacks<n, true, decltype(view(more, 0))...>;
      const auto others = Others::load(first, view(more, range.first)...);
      total_of(g, elements, total);
      if (!arrived) return;
#pragma unroll
      for (int i = 0; i < n; ++i) {
        total[i] = static_cast<Accumulator<T>>(others.apply(f, i, total[i]));
      }
      store_pack(to, first, WidePack<T, n>::of(total));
      return;
    }
    total_of(g, elements, total);
    if (!arrived) return;
#pragma unroll
    for (int i = 0; i < n; ++i) {
      if (i >= elements) continue;
      const auto k = first + static_cast<unsigned>(i);
      to.store(k, narrow<T>(
                      static_cast<Accumulator<T>>(f(total[i], view(more, range.first).get(k)...))));
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
