// all_gather and all_to_all by the copy engine. Blocks copy what stays on their PE, and put the
// head of each part, if the plan has one, while the first copy starts.
//
// Operations of queues (queues.hpp), with plan.pieces of 1. No arithmetic: the same bits as every
// other variant's.
#pragma once

#include "core/collective/apart.hpp"
#include "core/collective/queues.hpp"
#include "core/collective/share.hpp"

namespace sym {

namespace detail {

// What a rank gets of this PE's input: all of it, or its row.
template <class T>
struct SamePart {
  Window<T> in;
  SYM_HD Window<T> operator()(int) const { return in; }
};
template <class T>
struct RowPart {
  Window<T> in;
  std::size_t n;
  SYM_HD Window<T> operator()(int rank) const { return in.at(static_cast<std::size_t>(rank) * n); }
};

// Each member's part(rank) goes to its `place`; head of n elements go by blocks.
template <class T, class Part>
struct Scatter {
  Window<T> place;
  Part part;
  std::size_t n, head;
};

// The heads, and what stays on this PE, unless it is there. Ends when all heads have come.
template <class T, class Part>
struct HeadKernel {
  Group group;
  Scatter<T, Part> parts;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    const Team& team = group.team;
    const Window<T> own = parts.part(team.rank());
    if (parts.head > 0) {
      block.enter(group.channel);
      for (int hop = 1; hop < team.size(); ++hop) {
        const int rank = (team.rank() + hop) % team.size();
        block.put(parts.place, parts.part(rank), rows_of<T>(block, parts.head)(0), team.pe(rank));
      }
    }
    if (!are_same(Extent{own, parts.n}, Extent{parts.place, parts.n}))
      block.transform(parts.place, rows_of<T>(block, parts.n)(0), Identity{}, own);
    if (parts.head > 0) {
      barrier(block, group);
      block.leave(group.channel);
    }
  }
};

// Staggered, so that at no time one PE is everyone's target.
template <World W, class T, class Part>
void scatter_copies(W& world, const QueueGroup& queues, const Scatter<T, Part>& parts,
                    const LaunchConfig& kernel) {
  const Team& team = queues.group.team;
  CopyLines<W> lines(world, queues, team.size() - 1);
  meet(world, queues);  // outputs may be written
  // In place and without heads, blocks have nothing to do.
  const Extent own{parts.part(team.rank()), parts.n}, place{parts.place, parts.n};
  const bool by_blocks = parts.head > 0 || !are_same(own, place);
  if (by_blocks) {
    lines.own().after(lines.main().record());
    lines.own().launch(kernel, HeadKernel<T, Part>{queues.group, parts});
  }
  const std::size_t rest = parts.n - parts.head;
  if (rest > 0) lines.fork();
  for (int hop = 1; hop < team.size() && rest > 0; ++hop) {
    const int rank = (team.rank() + hop) % team.size();
    lines.of_turn(hop - 1).put(row_of(parts.place.at(parts.head), 0, rest),
                               row_of(parts.part(rank).at(parts.head), 0, rest), team.pe(rank));
  }
  if (rest > 0) lines.finish_all();  // every part has arrived
  if (by_blocks) lines.main().after(lines.own().record());
}

// Elements that blocks put of n.
inline std::size_t head_of(const QueuePlan& plan, std::size_t n) {
  return plan.head < n ? plan.head : n;
}

}  // namespace detail

// out[r*n + i] = in[i] of rank r, on every member: (P-1) n elements each way. `in` may be the
// rank's own place in `out`.
template <World W, class T>
void all_gather_copy_engine(W& world, const QueueGroup& queues, Window<T> in, Window<T> out,
                            std::size_t n, const QueuePlan& plan) {
  detail::require_plan(queues, plan);
  const Window<T> place = out.at(static_cast<std::size_t>(queues.group.team.rank()) * n);
  const Extent input{in, n}, output{out, static_cast<std::size_t>(queues.group.team.size()) * n};
  if (!are_same(input, Extent{place, n})) require_apart(input, output);
  const detail::SamePart<T> part{in};
  detail::scatter_copies(world, queues, detail::Scatter{place, part, n, detail::head_of(plan, n)},
                         plan.kernel);
}

// out[r*n + i] = in[rank*n + i] of rank r, on every member: (P-1) n elements each way. `in` must
// not overlap `out`.
template <World W, class T>
void all_to_all_copy_engine(W& world, const QueueGroup& queues, Window<T> in, Window<T> out,
                            std::size_t n, const QueuePlan& plan) {
  detail::require_plan(queues, plan);
  const int rank = queues.group.team.rank();
  const std::size_t size = static_cast<std::size_t>(queues.group.team.size()) * n;
  require_apart(Extent{in, size}, Extent{out, size});
  const Window<T> place = out.at(static_cast<std::size_t>(rank) * n);
  const detail::RowPart<T> part{in, n};
  detail::scatter_copies(world, queues, detail::Scatter{place, part, n, detail::head_of(plan, n)},
                         plan.kernel);
}

}  // namespace sym
