// Team: an ordered set of PEs, as a value.
#pragma once

#include <string>

#include "core/error.hpp"
#include "core/function.hpp"

namespace sym {

// Created locally, without communication; owns nothing. A strided team needs no storage; a member
// list points to memory that outlives every launch that uses the team and that a kernel may read
// (World::team makes such a list). Ranks are 0..size-1 in member order; `rank` is the caller's own,
// or -1 for a PE that is not a member.
class Team {
 public:
  Team() = default;

  // PEs first, first + stride, ... (size of them), seen from PE `self`. Requires size >= 1, stride
  // >= 1; a host throws UsageError otherwise.
  SYM_HD static constexpr Team strided(int self, int first, int stride, int size) {
    require_members(size);
    require_stride(stride);
    Team team;
    team.size_ = size;
    team.first_ = first;
    team.stride_ = stride;
    const int distance = self - first;
    const bool member = distance >= 0 && distance % stride == 0 && distance / stride < size;
    team.rank_ = member ? distance / stride : -1;
    return team;
  }

  // The PEs in `members`, in that order, seen from PE `self`. `members` must be distinct, and at
  // least one; a host throws UsageError for none.
  SYM_HD static constexpr Team listed(int self, const int* members, int size) {
    require_members(size);
    Team team;
    team.size_ = size;
    team.members_ = members;
    team.rank_ = -1;
    for (int r = 0; r < size; ++r) {
      if (members[r] == self) team.rank_ = r;
    }
    return team;
  }

  SYM_HD constexpr int rank() const { return rank_; }
  SYM_HD constexpr int size() const { return size_; }
  SYM_HD constexpr bool contains_self() const { return rank_ >= 0; }

  // The PE of a rank.
  SYM_HD constexpr int pe(int rank) const {
    const int at = first_ + rank * stride_;
    return members_ != nullptr ? members_[at] : at;
  }
  // The members of rank first, first + step, ... (count of them), in that order. Requires that
  // there are so many, count >= 1 (a host throws UsageError otherwise). The caller need not be one
  // of them.
  SYM_HD constexpr Team slice(int first, int step, int count) const {
    require_members(count);
    Team team = *this;
    team.first_ = first_ + first * stride_;
    team.stride_ = stride_ * step;
    team.size_ = count;
    const int distance = rank_ - first;
    const bool member = rank_ >= 0 && distance >= 0 && distance % step == 0;
    team.rank_ = member && distance / step < count ? distance / step : -1;
    return team;
  }
  // The ranks beside this one on the ring 0 -> 1 -> ... -> size-1 -> 0.
  SYM_HD constexpr int next() const { return rank_ + 1 == size_ ? 0 : rank_ + 1; }
  SYM_HD constexpr int previous() const { return rank_ == 0 ? size_ - 1 : rank_ - 1; }
  // The team of one member, as something to wait for. The caller need not be that member.
  SYM_HD constexpr Team only(int rank) const {
    Team team;
    team.first_ = pe(rank);
    team.rank_ = rank == rank_ ? 0 : -1;
    return team;
  }

 private:
  // A wait for a team of nobody would be over at once.
  SYM_HD static constexpr void require_members([[maybe_unused]] int size) {
    SYM_ON_HOST(if (size < 1) throw UsageError("a team of " + std::to_string(size) +
                                               " PEs: at least one member is needed"));
  }
  SYM_HD static constexpr void require_stride([[maybe_unused]] int stride) {
    SYM_ON_HOST(if (stride < 1) throw UsageError("a team with stride " + std::to_string(stride) +
                                                 ": at least 1 is needed"));
  }

  int rank_ = 0;
  int size_ = 1;
  int first_ = 0;  // of the PEs, or of the places in `members_`
  int stride_ = 1;
  const int* members_ = nullptr;
};

}  // namespace sym
