// WarpPiece: sym::Piece on the 32 lanes of one warp.
//
// A warp shares a range as a block does, among its own lanes. Nothing in here meets the block's
// other warps: a piece that is refused says so, drops what follows in this warp, and the block
// fails at the end of Block::warps, where all of its warps meet.
#pragma once

#include "backends/cuda/access.cuh"
#include "backends/cuda/lanes.cuh"
#include "backends/cuda/report.cuh"

namespace sym::cuda {

class WarpPiece : private Access {
 public:
  // `quiet_owed`: a quiet of the block before whose fence nobody has paid (cuda_block.cuh).
  __device__ __forceinline__ WarpPiece(const KernelContext& context, bool quiet_owed, Site site)
      : Access(context), quiet_owed_(quiet_owed), site_(site) {}
  WarpPiece(const WarpPiece&) = delete;
  WarpPiece& operator=(const WarpPiece&) = delete;

  template <class T, Operand S>
  __device__ __forceinline__ void put(Window<T> dst, S src, Range range, int pe) {
    if (!admit("warps: put", range, pe, dst, src)) return;
    if (quiet_owed_) ptx::fence_system();
    quiet_owed_ = false;
    copy_lanes<T, WarpLanes>(at(dst, pe) + range.first, own(src) + range.first, range.count);
  }
  template <Memory S>
  __device__ __forceinline__ typename S::value_type read(S memory, std::size_t index) {
    if (!admit("warps: read", Range{index, 1}, context_.pe, memory)) return {};
    return view(memory, index).load(0);
  }
  template <Operand D, class T, class F>
  __device__ __forceinline__ void weighted_sum(D dst, Window<T> src, Range range, int n, F term) {
    static_assert(std::is_same_v<typename D::value_type, T>, "the sum keeps the element type");
    if (!admit("warps: weighted_sum", range, context_.pe, dst)) return;
    const Terms<T> terms = look_at_terms(src, range, n, term, [&](const Term& one) {
      refuse("warps: weighted_sum", one.first + range.first, one.pe, src.count,
             one.first + range.end());
    });
    refused_ = __any_sync(~0U, refused_) != 0;  // terms may read, and so fail, in one lane
    if (refused_) return;
    weigh_lanes<WarpLanes>(own(dst) + range.first, range.count, n, terms,
                           [&](int j) { return addend(term(j), src, range); });
  }

  __device__ __forceinline__ bool refused() const { return refused_; }

 private:
  template <class... M>
  __device__ __forceinline__ bool admit(const char* verb, Range range, int pe, M... memory) {
    if (refused_) return false;
    if (is_pe(pe) && within(range, memory...)) return true;
    refuse(verb, range.first, pe, least_room(memory...), range.end());
    return false;
  }
  // Any lane may: the first one on this PE is reported.
  __device__ __forceinline__ void refuse(const char* verb, std::size_t first, int pe,
                                         std::uint64_t allowed, std::uint64_t given) {
    refused_ = true;
    detail::report(context_, Finding{FailureKind::refused, verb, site_, first, pe, allowed, given});
  }

  bool refused_ = false;  // equal in the warp's lanes between verbs
  bool quiet_owed_;
  Site site_;  // of the block's call: a piece's verbs have none
};

static_assert(Piece<WarpPiece>);

}  // namespace sym::cuda
