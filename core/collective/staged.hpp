// reduce_scatter and all_reduce staged: the copy engine pushes pieces to slots at their owner,
// whose blocks reduce each as it comes, beside the copies of the next. Blocks are faster than
// copies, so that pieces may shrink (plan.shrink): little is left to reduce behind the last copy.
//
// Operations of queues (queues.hpp): a share goes in plan.pieces, one behind the other. `work` is
// symmetric, of staged_slots(...).stride elements for each member. Rank order 0..P-1, one rounding:
// the same bits as reduce_scatter_direct and all_reduce_one_shot, for any number of pieces.
#pragma once

#include <vector>

#include "core/collective/apart.hpp"
#include "core/collective/queues.hpp"
#include "core/collective/share.hpp"

namespace sym {

// Where members' parts for this PE arrive. `shares(rank)` of the input is what `rank` reduces, rank
// 0 having the largest.
template <class T, class Shares>
PerMember<Window<T>> staged_slots(Window<T> work, const Shares& shares) {
  return per_member(work, shares(0).count);
}

namespace detail {

// All of the slots; a team of one has no use for any.
template <class T, class Shares>
Extent<Window<T>> staged_room(Window<T> work, const Team& team, const Shares& shares) {
  const auto size = static_cast<std::size_t>(team.size() > 1 ? team.size() : 0);
  return {work, size * staged_slots(work, shares).stride};
}

template <class T, class Op>
struct ReduceSlotsKernel {
  Team team;
  Window<T> out, own;
  PerMember<Window<T>> slots;
  Range range;
  Op op;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    const Range mine = chunk(range, block.index(), block.count(), granule<T>);
    block.reduce_slots(out, own, slots, mine, team, op);
  }
};

template <class T, class Shares>
struct StagedWork {
  Window<T> window;
  Shares shares;
};

// What both have in common. `shares(rank)`: the elements of the input that `rank` reduces.
template <World W, class T, class Shares>
class Staged {
 public:
  // `lines`: 1 to push alone, 2 to spread as well.
  Staged(W& world, const QueueGroup& queues, const StagedWork<T, Shares>& work,
         const QueuePlan& plan, int lines)
      : world_(world),
        queues_(queues),
        team_(queues.group.team),
        lines_(world, queues, queues.group.team.size() > 1 ? lines : 0),
        slots_(staged_slots(work.window, work.shares)),
        shares_(work.shares),
        plan_(plan) {
    double term = 1;
    for (int index = 0; index < plan.pieces; ++index, term *= plan.shrink)
      ends_.push_back(ends_.back() + term);
    if (!std::isfinite(ends_.back()))
      throw UsageError("QueuePlan::shrink is too large for " + std::to_string(plan.pieces) +
                       " pieces");
  }

  // Members' pieces leave for their owners' slots, piece by piece, each with its flag.
  void push(Window<T> in) {
    meet(world_, queues_);  // slots (and outputs) may be written
    lines_.fork();
    auto& line = lines_.of_turn(0);
    for (int index = 0; index < plan_.pieces; ++index) {
      for (int hop = 1; hop < team_.size(); ++hop) {
        const int rank = (team_.rank() + hop) % team_.size();
        const Range part = piece(rank, index);
        const Window<T> slot = slots_.of(team_.rank()).at(part.first);
        line.put(row_of(slot, 0, part.count),
                 row_of(in.at(shares_(rank).first), part.first, part.count), team_.pe(rank));
        line.post(queues_.posts, static_cast<std::size_t>(index), team_.pe(rank));
      }
    }
  }
  // The piece has come from every member and is reduced to out: both begin with this PE's share.
  template <class Op>
  void reduce(Window<T> out, Window<T> own, int index, Op op) {
    for (int rank = 0; rank < team_.size(); ++rank) {
      if (rank != team_.rank())
        lines_.main().take(queues_.posts, static_cast<std::size_t>(index), team_.pe(rank));
    }
    lines_.main().launch(plan_.kernel, ReduceSlotsKernel<T, Op>{team_, out, own, slots_,
                                                                piece(team_.rank(), index), op});
  }
  // The reduced piece goes to all members.
  void spread(Window<T> out, int index) {
    auto& line = lines_.of_turn(1);
    line.after(lines_.main().record());
    const Range part = piece(team_.rank(), index);
    for (int hop = 1; hop < team_.size(); ++hop) {
      const Matrix<T> there = row_of(out, part.first, part.count);
      line.put(there, there, team_.pe((team_.rank() + hop) % team_.size()));
    }
  }
  // Returns to the main queue when this PE's pieces have left, or when all have come to it as well.
  void finish_own() { lines_.finish_own(); }
  void finish_all() { lines_.finish_all(); }

 private:
  // Of a rank's share, from its beginning.
  Range piece(int rank, int index) const {
    const std::size_t count = shares_(rank).count;
    const std::size_t first = cut(count, index);
    return Range{first, cut(count, index + 1) - first};
  }
  // Where the pieces before `index` end: whole granules, of 1 + r + r^2 + ...
  std::size_t cut(std::size_t count, int index) const {
    if (index >= plan_.pieces) return count;
    const auto granules = static_cast<double>(count / granule<T>);
    const double part = ends_[static_cast<std::size_t>(index)] / ends_.back();
    return granule<T> * static_cast<std::size_t>(granules * part);
  }

  W& world_;
  const QueueGroup& queues_;
  const Team& team_;
  CopyLines<W> lines_;
  PerMember<Window<T>> slots_;
  Shares shares_;
  QueuePlan plan_;
  std::vector<double> ends_{0};  // where each piece ends, the first being 1 long
};

}  // namespace detail

// Elements of the input that a rank reduces: n for each, or the shares of n.
struct StagedRows {
  std::size_t n = 0;
  Range operator()(int rank) const { return Range{static_cast<std::size_t>(rank) * n, n}; }
};
template <class T>
struct StagedShares {
  std::size_t n = 0;
  int ranks = 1;
  Range operator()(int rank) const { return chunk(Range{0, n}, rank, ranks, granule<T>); }
};

// out[i] = op over the team of in[rank*n + i]. (P-1) n elements each way. `in` must not overlap
// `out`.
template <World W, class T, class Op>
void reduce_scatter_staged(W& world, const QueueGroup& queues, Window<T> in, Window<T> work,
                           Window<T> out, std::size_t n, Op op, const QueuePlan& plan) {
  detail::require_plan(queues, plan);
  const StagedRows rows{n};
  const Extent all{in, static_cast<std::size_t>(queues.group.team.size()) * n}, result{out, n};
  require_apart(all, result);
  require_work_apart(all, detail::staged_room(work, queues.group.team, rows), result);
  detail::Staged staged(world, queues, detail::StagedWork{work, rows}, plan, 1);
  staged.push(in);
  const Window<T> own = in.at(rows(queues.group.team.rank()).first);
  for (int index = 0; index < plan.pieces; ++index) staged.reduce(out, own, index, op);
  staged.finish_own();
}

// out[i] = op over the team of in[i], for n elements: 2(P-1)/P n each way. `in` and `out` may be
// the same window.
template <World W, class T, class Op>
void all_reduce_staged(W& world, const QueueGroup& queues, Window<T> in, Window<T> work,
                       Window<T> out, std::size_t n, Op op, const QueuePlan& plan) {
  detail::require_plan(queues, plan);
  const Team& team = queues.group.team;
  const StagedShares<T> shares{n, team.size()};
  const Extent all{in, n}, result{out, n};
  if (!are_same(all, result)) require_apart(all, result);
  require_work_apart(all, detail::staged_room(work, team, shares), result);
  detail::Staged staged(world, queues, detail::StagedWork{work, shares}, plan, 2);
  staged.push(in);
  const std::size_t first = shares(team.rank()).first;
  for (int index = 0; index < plan.pieces; ++index) {
    staged.reduce(out.at(first), in.at(first), index, op);
    staged.spread(out.at(first), index);
  }
  staged.finish_all();  // every share has arrived
}

}  // namespace sym
