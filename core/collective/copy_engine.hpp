// all_gather and all_to_all by the copy engine: blocks copy what stays on their PE, and no more.
//
// Operations of queues (queues.hpp), with plan.pieces of 1. No arithmetic: the same bits as every
// other variant's.
#pragma once

#include "core/collective/apart.hpp"
#include "core/collective/queues.hpp"
#include "core/collective/share.hpp"

namespace sym {

namespace detail {

template <class T>
struct CopyKernel {
  Window<T> to, from;
  std::size_t n;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    block.transform(to, rows_of<T>(block, n)(0), Identity{}, from);
  }
};

// To each member, `part(rank)`, which becomes its `place`; staggered, so that at no time one PE is
// everyone's target. What this PE keeps is copied beside, unless it is there.
template <World W, class T, class Part>
void scatter_copies(W& world, const QueueGroup& queues, Window<T> place, Part part,
                    CopyKernel<T> keep, const QueuePlan& plan) {
  const Team& team = queues.group.team;
  CopyLines<W> lines(world, queues, team.size() - 1);
  lines.own().after(lines.main().record());
  if (keep.from.offset_bytes != keep.to.offset_bytes) lines.own().launch(plan.kernel, keep);
  const Mark kept = lines.own().record();
  meet(world, queues);  // outputs may be written
  lines.fork();
  for (int hop = 1; hop < team.size(); ++hop) {
    const int rank = (team.rank() + hop) % team.size();
    lines.of_turn(hop - 1).put(row_of(place, 0, keep.n), row_of(part(rank), 0, keep.n),
                               team.pe(rank));
  }
  lines.finish_all();  // every part has arrived
  lines.main().after(kept);
}

}  // namespace detail

// out[r*n + i] = in[i] of rank r, on every member: (P-1) n elements each way. `in` may be the
// rank's own place in `out`.
template <World W, class T>
void all_gather_copy_engine(W& world, const QueueGroup& queues, Window<T> in, Window<T> out,
                            std::size_t n, const QueuePlan& plan) {
  const Window<T> place = out.at(static_cast<std::size_t>(queues.group.team.rank()) * n);
  const Extent input{in, n}, output{out, static_cast<std::size_t>(queues.group.team.size()) * n};
  if (!are_same(input, Extent{place, n})) require_apart(input, output);
  const auto all = [in](int) { return in; };
  detail::scatter_copies(world, queues, place, all, detail::CopyKernel<T>{place, in, n}, plan);
}

// out[r*n + i] = in[rank*n + i] of rank r, on every member: (P-1) n elements each way. `in` must
// not overlap `out`.
template <World W, class T>
void all_to_all_copy_engine(W& world, const QueueGroup& queues, Window<T> in, Window<T> out,
                            std::size_t n, const QueuePlan& plan) {
  const int rank = queues.group.team.rank();
  const std::size_t size = static_cast<std::size_t>(queues.group.team.size()) * n;
  require_apart(Extent{in, size}, Extent{out, size});
  const Window<T> place = out.at(static_cast<std::size_t>(rank) * n);
  const auto row = [in, n](int to) { return in.at(static_cast<std::size_t>(to) * n); };
  detail::scatter_copies(world, queues, place, row, detail::CopyKernel<T>{place, row(rank), n},
                         plan);
}

}  // namespace sym
