// The two halves of a ring: reduce-scatter and all-gather (Patarasuk and Yuan, 2009).
//
// Both leave synchronisation with the rest of the world to their caller: before, every member must
// be ready for its `work` to be written; after, nothing is known of members other than the
// predecessor. `parts(rank)` is the range of `work` (and `in`) that the calling block owns of a
// rank's share.
#pragma once

#include "core/collective/share.hpp"

namespace sym {

// After it, work[parts(rank)] on each member is op over the team of in[parts(rank)], combined in
// rank order rank+1, rank+2, ..., rank, and rounded to T at each hop. `in` is a window or local,
// distinct from `work`. Each part of `work` is written once by the predecessor, so nothing is
// reused and no credit is needed. False if a wait expired.
template <Block B, class T, Operand In, class Parts, class Op>
SYM_FN bool ring_reduce_scatter(B& block, const Group& group, In in, Window<T> work, Parts parts,
                                Op op) {
  const Team& team = group.team;
  const Signals& steps = group.channel.steps;
  const std::size_t slot = static_cast<std::size_t>(block.index());
  const int ranks = team.size();
  const int next = team.pe(team.next());
  const Team previous = team.only(team.previous());
  if (ranks == 1) block.transform(work, parts(0), detail::Finish<Op>{op, 1}, in);
  for (int step = 1; step < ranks; ++step) {
    const Range outgoing = parts((team.rank() - step + ranks) % ranks);
    const Range incoming = parts((team.rank() - step - 1 + 2 * ranks) % ranks);
    block.fence(next);  // so that the k-th signal says that the k-th part is there
    if (step == 1) {
      block.put_signal(work, in, outgoing, steps, slot, next);
    } else {
      block.put_signal(work, work, outgoing, steps, slot, next);
    }
    if (!block.wait_until(steps, slot, previous)) return false;
    if (step < ranks - 1) {
      block.transform(work, incoming, detail::Combine<Op>{op}, work, in);
    } else {
      block.transform(work, incoming, detail::Finish<Op>{op, ranks}, work, in);
    }
  }
  return true;
}

// After it, every member's work[parts(r)] is complete for all r, given that each began with its
// own.
template <Block B, class T, class Parts>
SYM_FN bool ring_all_gather(B& block, const Group& group, Window<T> work, Parts parts) {
  const Team& team = group.team;
  const Signals& steps = group.channel.steps;
  const std::size_t slot = static_cast<std::size_t>(block.index());
  const int ranks = team.size();
  const int next = team.pe(team.next());
  const Team previous = team.only(team.previous());
  for (int step = 0; step < ranks - 1; ++step) {
    block.fence(next);
    block.put_signal(work, work, parts((team.rank() - step + ranks) % ranks), steps, slot, next);
    if (!block.wait_until(steps, slot, previous)) return false;
  }
  return true;
}

}  // namespace sym
