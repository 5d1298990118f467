// What the lanes of a block do for sum and max, in their stated order, and for what is scaled by a
// sum.
#pragma once

#include <type_traits>

#include "backends/cuda/pack.cuh"
#include "backends/cuda/scratch.cuh"
#include "core/ops.hpp"

namespace sym::cuda {

// A value of another lane of the warp, `hop` lanes on.
template <class A>
__device__ __forceinline__ A from_lane_behind(A value, int hop) {
  constexpr int words = (static_cast<int>(sizeof(A)) + 3) / 4;
  std::uint32_t w[words] = {};
  memcpy(w, &value, sizeof(A));
#pragma unroll
  for (int i = 0; i < words; ++i) w[i] = __shfl_down_sync(~0U, w[i], hop);
  memcpy(&value, w, sizeof(A));
  return value;
}

// By one warp: the tree over 1024 totals, of which those from `active` on are none. Steps of 32 and
// more join totals that one lane of the warp reads, so that the block meets once and not ten times.
template <class A, class Op>
__device__ __forceinline__ A fold_totals(const A* total, int active, Op op) {
  const int lane = static_cast<int>(threadIdx.x);
  const auto at = [&](int row) { return 32 * row + lane < active ? total[32 * row + lane] : A{}; };
  const auto join = [&](A& mine, A other, int row) {  // of row `row`, if it has one in this lane
    if (32 * row + lane < active) mine = op.combine(mine, other);
  };
  A mine[16];
#pragma unroll
  for (int k = 0; k < 16; ++k) mine[k] = at(k);
  if (active > 16 * 32) {
#pragma unroll
    for (int k = 0; k < 16; ++k) join(mine[k], at(k + 16), k + 16);
  }
#pragma unroll
  for (int k = 0; k < 8; ++k) join(mine[k], mine[k + 8], k + 8);
#pragma unroll
  for (int k = 0; k < 4; ++k) join(mine[k], mine[k + 4], k + 4);
  join(mine[0], mine[2], 2);
  join(mine[1], mine[3], 3);
  join(mine[0], mine[1], 1);
#pragma unroll
  for (int hop = 16; hop > 0; hop /= 2) {
    const A other = from_lane_behind(mine[0], hop);
    if (lane < hop && lane + hop < active) mine[0] = op.combine(mine[0], other);
  }
  return mine[0];
}

inline constexpr int fold_run = 8;  // consecutive elements of a virtual lane
inline constexpr int virtual_lanes = 1024;

// A total for each virtual lane, and the answer: not one of them, so that one who reads it late is
// not overtaken by the next fold.
template <class A>
struct FoldRoom {
  A total[virtual_lanes];
  A answer;

  __device__ __forceinline__ static FoldRoom& here() {
    __shared__ FoldRoom room;
    return room;
  }
  // Once each lane has written its totals, of which there are `active`. Every lane gets the result.
  template <class Op>
  __device__ __forceinline__ A fold(int active, Op op) {
    __syncthreads();
    if (threadIdx.x < 32) {
      const A folded = fold_totals(total, active, op);
      if (threadIdx.x == 0) answer = folded;
    }
    __syncthreads();
    return answer;
  }
};

// The fixed order of core/block.hpp: virtual lane l of 1024 folds elements 8l..8l+7, 8(l+1024)..,
// and then lanes fold l += l + 512, 256, ..., 1. Lanes without an element take no part; of nothing,
// A{}. Called when the lanes have met since they wrote the elements; ends with a sync. Every lane
// gets the result. `src` is where the elements lie: a view (scratch.cuh).
template <class Source, class F, class Op>
__device__ __forceinline__ auto fold_lanes(Source src, std::size_t count, F f, Op op) {
  using T = typename Source::value_type;
  using A = Accumulator<T>;
  using Index = std::conditional_t<Source::is_global, std::size_t, unsigned>;
  constexpr int run = fold_run;
  constexpr int lanes = virtual_lanes;
  FoldRoom<A>& room = FoldRoom<A>::here();
  const bool wide = view_fits<run>(src);
  const int active = count < run * lanes ? static_cast<int>((count + run - 1) / run) : lanes;
#pragma unroll 1
  for (int lane = static_cast<int>(threadIdx.x); lane < active;
       lane += static_cast<int>(blockDim.x)) {
    A sum{};
    bool fresh = true;
    const auto add = [&](A value) {
      const A mapped = static_cast<A>(f(value));
      sum = fresh ? mapped : op.combine(sum, mapped);
    };
#pragma unroll 1
    for (Index first = static_cast<Index>(lane) * run; first < static_cast<Index>(count);
         first += run * lanes) {
      if (assume_wide || (wide && first + run <= count)) [[likely]] {
        const auto pack = load_pack<WidePack<T, run>>(src, first);
        add(pack.get(0));
        fresh = false;
#pragma unroll
        for (int i = 1; i < run; ++i) sum = op.combine(sum, static_cast<A>(f(pack.get(i))));
      } else {
        const int left = count - first < run ? static_cast<int>(count - first) : run;
#pragma unroll 1
        for (int i = 0; i < left; ++i, fresh = false) add(src.get(first + i));
      }
    }
    room.total[lane] = sum;
  }
  return room.fold(active, op);
}

// Whether map_by_sum can: a group is what a virtual lane adds up, and a lane has at most
// `sum_groups` of them.
inline constexpr int sum_groups = 2;
template <class D, class S>
inline constexpr bool one_pass_sum =
    granule<typename D::value_type> == fold_run&& granule<typename S::value_type> == fold_run;

// Nowhere: what a lane would store is dropped.
struct NoView {};
template <int>
__device__ __forceinline__ constexpr bool view_fits(NoView) {
  return true;
}
template <class P>
__device__ __forceinline__ void store_pack(NoView, std::size_t, const P&) {}

// dst = g(src, more...), and keep = src, where g is made from the sum over f(src): src is read
// once, and all of a lane's loads are under way before the sum. `groups` whole ones, of views that
// fit wide accesses.
template <class D, class K, class F, class G, class S, class... V>
__device__ __forceinline__ void map_by_sum(D dst, K keep, unsigned groups, F f, G make, S src,
                                           V... more) {
  using T = typename D::value_type;
  using A = Accumulator<typename S::value_type>;
  constexpr int n = fold_run;
  using Own = PackOf<typename S::value_type, n, true>;
  Own own[sum_groups];
  ViewPacks<n, true, V...> others[sum_groups];
  FoldRoom<A>& room = FoldRoom<A>::here();
#pragma unroll
  for (int k = 0; k < sum_groups; ++k) {
    const unsigned group = threadIdx.x + static_cast<unsigned>(k) * blockDim.x;
    if (group >= groups) continue;
    others[k] = ViewPacks<n, true, V...>::load(group * n, more...);
    own[k] = load_pack<Own>(src, group * n);
    store_pack(keep, group * n, own[k]);
    A sum = static_cast<A>(f(own[k].get(0)));
#pragma unroll
    for (int i = 1; i < n; ++i) sum = Sum{}.combine(sum, static_cast<A>(f(own[k].get(i))));
    room.total[group] = sum;
  }
  const auto g = make(room.fold(static_cast<int>(groups), Sum{}));
#pragma unroll
  for (int k = 0; k < sum_groups; ++k) {
    const unsigned group = threadIdx.x + static_cast<unsigned>(k) * blockDim.x;
    if (group >= groups) continue;
    Accumulator<T> result[n];
#pragma unroll
    for (int i = 0; i < n; ++i)
      result[i] = static_cast<Accumulator<T>>(others[k].apply(g, i, own[k].get(i)));
    store_pack(dst, group * n, PackOf<T, n, true>::of(result));
  }
}

}  // namespace sym::cuda
