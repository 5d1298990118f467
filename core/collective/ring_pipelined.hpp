// all_reduce on a ring in pieces, so that while one is reduced the others are on their way.
#pragma once

#include "core/collective/apart.hpp"
#include "core/collective/barrier.hpp"
#include "core/collective/share.hpp"

namespace sym {

// As all_reduce_ring (Patarasuk and Yuan, 2009), and the same bits: the share of rank r is combined
// in the order r+1, r+2, ..., r and rounded to T at each hop. But each part goes in so many
// `pieces`, and each piece goes on as soon as it is reduced, from the first half of the ring to the
// second without a stop: no step waits for a whole part. `in` must not overlap `out`; `pieces` is
// at least 1, and equal on all members.
template <Block B, class T, Operand In, class Op>
SYM_FN void all_reduce_ring_pipelined(B& block, const Group& group, In in, Window<T> out,
                                      std::size_t n, Op op, int pieces) {
  if (!apart(block, Extent{in, n}, Extent{out, n}) || !is_in_pieces(block, pieces)) return;
  const Team& team = group.team;
  const Channel& channel = group.channel;
  const std::size_t slot = static_cast<std::size_t>(block.index());
  const int ranks = team.size();
  const int next = team.pe(team.next());
  const Team previous = team.only(team.previous());
  const Shares<T> shares = shares_of<T>(block, n, team);
  // What comes in step 1, 2, ..., 2(ranks-1), and goes on in the next; of step 0, what goes first.
  const auto pieces_of = [&](int step) {
    return Pieces<T>(shares((team.rank() - step - 1 + 2 * ranks) % ranks), pieces);
  };
  if (ranks == 1) block.transform(out, shares(0), detail::Finish<Op>{op, 1}, in);
  if (ranks == 1) return;
  block.signal(channel.barriers, slot, team.pe(team.previous()));  // `out` may be written
  if (!block.wait_until(channel.barriers, slot, team.only(team.next()))) return;
  const Pieces<T> sent = pieces_of(0);
  for (int index = 0; index < pieces; ++index) {
    block.fence(next);  // so that the k-th signal says that the k-th piece is there
    block.put_signal(out, in, sent(index), channel.steps, slot, next);
  }
  for (int step = 1; step <= 2 * (ranks - 1); ++step) {
    const Pieces<T> came = pieces_of(step);
    for (int index = 0; index < pieces; ++index) {
      const Range here = came(index);
      if (!block.wait_until(channel.steps, slot, previous)) return;
      if (step < ranks - 1) block.transform(out, here, detail::Combine<Op>{op}, out, in);
      if (step == ranks - 1) block.transform(out, here, detail::Finish<Op>{op, ranks}, out, in);
      if (step == 2 * (ranks - 1)) continue;
      block.fence(next);
      block.put_signal(out, out, here, channel.steps, slot, next);
    }
  }
  block.quiet();  // `in` and `out` are the caller's again
}

}  // namespace sym
