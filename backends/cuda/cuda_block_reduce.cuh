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

template <Memory D, class K, class F, class G, Memory S, Memory... More>
__device__ __forceinline__ void CudaBlock::by_sum(D dst, K keep, RangeAt where, F f, G make, S src,
                                                  More... more) {
  const Range range = where.range;
  if constexpr (one_pass_sum<D, S>) {
    const bool met = met_;
    if (!admit("transform_by_sum", where.site, range, context_.pe, dst, src, more...)) return;
    const bool fits = range.count <= std::size_t{sum_groups * fold_run} * blockDim.x &&
                      range.count <= fold_run * virtual_lanes && range.count % fold_run == 0 &&
                      view_fits<fold_run>(view(dst, range.first)) && view_fits<fold_run>(keep) &&
                      view_fits<fold_run>(view(src, range.first)) &&
                      (view_fits<fold_run>(view(more, range.first)) && ...);
    if (fits) [[likely]] {
      if (!met) __syncthreads();
      took_ = false;
      map_by_sum(view(dst, range.first), keep, static_cast<unsigned>(range.count / fold_run), f,
                 make, view(src, range.first), view(more, range.first)...);
      return;
    }
  }
  if constexpr (!std::is_same_v<K, NoView>) {
    if (!admit("transform_by_sum", where.site, range, context_.pe, src)) return;
    map_views(
        keep, range.count, [](auto x) { return x; }, view(src, range.first));
  }
  transform(dst, where, make(fold("transform_by_sum", src, range, f, Sum{}, where.site)), src,
            more...);
}

template <Memory D, Memory K, class F, class G, Memory S, Memory... More>
__device__ __forceinline__ void CudaBlock::transform_by_sum(WithSource<D, K> dst, RangeAt where,
                                                            F f, G make, S src, More... more) {
  const bool met = met_;
  if (!admit("transform_by_sum", where.site, where.range, context_.pe, dst.source)) return;
  met_ = met;  // nothing has been touched
  by_sum(dst.result, view(dst.source, where.range.first), where, f, make, src, more...);
}

// As the plain form; what f needs besides is loaded while the messages are on their way.
template <Memory D, Operand S, class Op, class F, Memory... More>
__device__ __forceinline__ bool CudaBlock::reduce_packets(D dst, S mine, RangeAt where,
                                                          const Packets& packets, std::size_t slot,
                                                          const Team& team, Op op, F f,
                                                          More... more) {
  using T = typename D::value_type;
  static_assert(std::is_same_v<typename S::value_type, T>, "reduce_packets keeps the element type");
  constexpr int n = Groups<T>::whole;
  const Range range = where.range;
  const Inbox inbox{packets, slot, where.site, "reduce_packets"};
  if (!admit_message(inbox, range, range.count * sizeof(T), dst, mine, more...)) return false;
  const auto to = view(dst, range.first);
  const T* const from = own(mine) + range.first;
  const Groups<T> groups(range.count);
  const int operands = team.size();
  const bool wide = groups.all_whole() && fits_wide<T, n>(from) && view_fits<n>(to) &&
                    (view_fits<n>(view(more, range.first)) && ...);
  const auto load_others = [this, range, more...]<int elements, bool wide_ones>(std::size_t first) {
    return ViewPacks<elements, wide_ones, decltype(view(more, 0))...>::load(
        first, view(more, range.first)...);
  };
  return take_messages(
      inbox, team, groups.count, wide, [&]<class Batches, template <class> class Access>() {
        constexpr int depth = Batches::depth;
        constexpr bool wide_ones = std::is_same_v<Access<T>, WideGroups<T>>;
        using Own = OwnRun<T, Access, depth>;
        using Reduced = ReducedRun<T, Op, Own, depth>;
        using To = std::remove_const_t<decltype(to)>;
        using Others = std::remove_const_t<decltype(load_others)>;
        return MappedRun<Reduced, To, F, Others, wide_ones>{
            Reduced{Own(from, groups), nullptr, operands, op}, groups, to, f, load_others};
      });
}

}  // namespace sym::cuda
