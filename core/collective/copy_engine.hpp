// all_gather and all_to_all by the copy engine: no processor of a GPU moves a byte.
//
// Operations of queues (queues.hpp); the group's posts have at least one slot. No arithmetic: the
// same bits as every other variant's.
#pragma once

#include "core/collective/queues.hpp"

namespace sym {

namespace detail {

// To each member, `part(rank)`, which becomes its `place`; staggered, so that at no time one PE is
// everyone's target. What this PE keeps is copied beside, unless it is there.
template <World W, class T, class Part>
void scatter_copies(W& world, const QueueGroup& queues, Window<T> place, Part part, std::size_t n) {
  const Team& team = queues.group.team;
  CopyLines<W> lines(world, queues);
  const Window<T> kept = part(team.rank());
  lines.fork_own();
  if (kept.offset_bytes != place.offset_bytes)
    lines.own().put(row_of(place, 0, n), row_of(kept, 0, n), world.pe());
  meet(world, queues);  // outputs may be written
  lines.fork();
  for (int hop = 1; hop < team.size(); ++hop) {
    const int rank = (team.rank() + hop) % team.size();
    auto& line = lines.of_turn(hop);
    line.put(row_of(place, 0, n), row_of(part(rank), 0, n), team.pe(rank));
    line.post(queues.posts, 0, team.pe(rank));
  }
  for (int hop = 1; hop < team.size(); ++hop) {
    const int rank = (team.rank() - hop + team.size()) % team.size();
    lines.main().take(queues.posts, 0, team.pe(rank));  // its part has arrived
  }
  lines.join();
  lines.join_own();
}

}  // namespace detail

// out[r*n + i] = in[i] of rank r, on every member: (P-1) n elements each way. `in` may be the
// rank's own place in `out`.
template <World W, class T>
void all_gather_copy_engine(W& world, const QueueGroup& queues, Window<T> in, Window<T> out,
                            std::size_t n) {
  const auto rank = static_cast<std::size_t>(queues.group.team.rank());
  detail::scatter_copies(
      world, queues, out.at(rank * n), [in](int) { return in; }, n);
}

// out[r*n + i] = in[rank*n + i] of rank r, on every member: (P-1) n elements each way. `in` must
// not overlap `out`.
template <World W, class T>
void all_to_all_copy_engine(W& world, const QueueGroup& queues, Window<T> in, Window<T> out,
                            std::size_t n) {
  const auto rank = static_cast<std::size_t>(queues.group.team.rank());
  const auto row = [in, n](int to) { return in.at(static_cast<std::size_t>(to) * n); };
  detail::scatter_copies(world, queues, out.at(rank * n), row, n);
}

}  // namespace sym
