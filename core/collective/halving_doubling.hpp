// all_reduce by recursive halving and doubling: log2(P) steps each way, and 2(P-1)/P of the bytes.
// (Thakur, Rabenseifner, Gropp: Optimization of Collective Communication Operations in MPICH, 2005,
// with Rabenseifner's way of folding a number of PEs that is no power of two.)
#pragma once

#include "core/collective/apart.hpp"
#include "core/collective/barrier.hpp"
#include "core/collective/share.hpp"

namespace sym {

namespace detail {

// How P PEs become a power of two: of the first 2 * extra ranks the odd ones give what they have to
// the even one before them, and get the result from it. Those that are left are numbered from 0 on.
struct Folded {
  int rank = 0, power = 1, extra = 0;

  SYM_HD constexpr bool in_pair() const { return rank < 2 * extra; }
  SYM_HD constexpr bool gives() const { return in_pair() && rank % 2 == 1; }
  SYM_HD constexpr int number() const { return in_pair() ? rank / 2 : rank - extra; }
  // The rank of this PE's partner at a distance.
  SYM_HD constexpr int partner(int distance) const {
    const int other = number() ^ distance;
    return other < extra ? 2 * other : other + extra;
  }
};
SYM_HD constexpr Folded folded(int rank, int ranks) {
  int power = 1;
  while (power <= ranks / 2) power *= 2;
  return Folded{rank, power, ranks - power};
}

// The part of `all` that number `number` still has after the halving at `distance`.
template <class T>
SYM_HD constexpr Range halved(Range all, const Folded& self, int number, int distance) {
  for (int at = self.power / 2; at >= distance && at > 0; at /= 2)
    all = chunk(all, (number & at) != 0 ? 1 : 0, 2, granule<T>);
  return all;
}

// The least whole number of granules that holds n elements.
template <class T>
SYM_HD constexpr std::size_t in_granules(std::size_t n) {
  return (n + granule<T> - 1) / granule<T> * granule<T>;
}

// Parts that arrive lie one behind the other, each where a wide access may start: rounding adds at
// most this for each halving, and the folded operand is a range more.
template <class T>
SYM_HD constexpr std::size_t halving_room(std::size_t n, int ranks, int blocks) {
  const Folded fold = folded(0, ranks);
  std::size_t steps = 1;
  for (int at = fold.power; at > 1; at /= 2) ++steps;
  return (fold.extra > 0 ? 2 : 1) * n + static_cast<std::size_t>(blocks) * steps * granule<T>;
}

// Tells all who will write here that they may. A tagged row, so that members who came for different
// operations are named.
template <Block B>
SYM_FN void greet_partners(B& block, const Group& group) {
  const Team& team = group.team;
  const Signals& ready = group.channel.barriers;
  const std::size_t slot = static_cast<std::size_t>(block.index());
  const Folded fold = folded(team.rank(), team.size());
  if (fold.in_pair()) block.signal(ready, slot, team.pe(team.rank() ^ 1));
  if (fold.gives()) return;
  for (int distance = fold.power / 2; distance > 0; distance /= 2)
    block.signal(ready, slot, team.pe(fold.partner(distance)));
}

// What a block works on: `all` is a range of `in` and `out`, the same on every member, and `work`
// has room for what arrives. `in` and `out` may be the same.
template <class T>
struct Halving {
  Window<T> in, work, out;
  Range all;
};

// The way down. After it, out[halved(all, number, 1)] is complete on every number.
template <Block B, class T, class Op>
SYM_FN bool halve(B& block, const Group& group, const Halving<T>& h, const Folded& fold, Op op) {
  const Team& team = group.team;
  const Channel& channel = group.channel;
  const std::size_t slot = static_cast<std::size_t>(block.index());
  Window<T> own = h.in;
  // In `work`, of the next part that arrives: the same on both partners. Folded operands are first.
  std::size_t place = fold.extra > 0 ? in_granules<T>(h.all.count) : 0;
  if (fold.in_pair()) {
    if (!block.wait_until(channel.steps, slot, team.only(fold.rank + 1))) return false;
    block.transform(h.out.at(h.all.first), Range{0, h.all.count}, Combine<Op>{op},
                    h.in.at(h.all.first), h.work);
    own = h.out;
  }
  for (int distance = fold.power / 2; distance > 0; distance /= 2) {
    const int number = fold.number(), partner = fold.partner(distance);
    const bool upper = (number & distance) != 0;
    const Range kept = halved<T>(h.all, fold, number, distance);
    const Range given = halved<T>(h.all, fold, number ^ distance, distance);
    const Range arrived{0, kept.count};
    const Window<T> theirs = h.work.at(place), mine = own.at(kept.first);
    if (!block.wait_until(channel.barriers, slot, team.only(partner))) return false;
    block.put_signal(theirs, own.at(given.first), Range{0, given.count}, channel.steps, slot,
                     team.pe(partner));
    if (!block.wait_until(channel.steps, slot, team.only(partner))) return false;
    const Window<T> lower = upper ? theirs : mine, higher = upper ? mine : theirs;
    if (distance > 1) {
      block.transform(h.out.at(kept.first), arrived, Combine<Op>{op}, lower, higher);
    } else {
      block.transform(h.out.at(kept.first), arrived, Finish<Op>{op, team.size()}, lower, higher);
    }
    own = h.out;
    place += in_granules<T>(upper ? given.count : kept.count);  // the longer half
  }
  return true;
}

// After it, out[all] is complete on every member. After greet_partners; leaves this block's puts
// under way. False if a wait expired.
template <Block B, class T, class Op>
SYM_FN bool halving_doubling(B& block, const Group& group, const Halving<T>& h, Op op) {
  const Team& team = group.team;
  const Channel& channel = group.channel;
  const std::size_t slot = static_cast<std::size_t>(block.index());
  const Folded fold = folded(team.rank(), team.size());
  const int pair = team.rank() ^ 1;
  if (team.size() == 1) block.transform(h.out, h.all, Finish<Op>{op, 1}, h.in);
  if (fold.in_pair() && !block.wait_until(channel.barriers, slot, team.only(pair))) return false;
  if (fold.gives()) {
    block.put_signal(h.work, h.in.at(h.all.first), Range{0, h.all.count}, channel.steps, slot,
                     team.pe(pair));
    return block.wait_until(channel.steps, slot, team.only(pair));
  }
  if (!halve(block, group, h, fold, op)) return false;
  for (int distance = 1; distance < fold.power; distance *= 2) {
    const int partner = fold.partner(distance);
    block.fence(team.pe(partner));  // the second signal on this lane: after the first
    block.put_signal(h.out, h.out, halved<T>(h.all, fold, fold.number(), distance), channel.steps,
                     slot, team.pe(partner));
    if (!block.wait_until(channel.steps, slot, team.only(partner))) return false;
  }
  if (fold.in_pair()) block.put_signal(h.out, h.out, h.all, channel.steps, slot, team.pe(pair));
  return true;
}

}  // namespace detail

// Elements of `work` for n elements on a grid of `blocks`, of a team of `ranks`.
template <class T>
SYM_HD constexpr std::size_t halving_work(std::size_t n, int ranks, int blocks) {
  return detail::halving_room<T>(n, ranks, blocks);
}

// Any number of PEs. Each element is combined along one binary tree over the ranks, lower ranks
// first, rounded to T at each step: the same bits on all PEs, for any n and grid. `work`
// (halving_work elements, symmetric) must overlap neither `in` nor `out`; those two may be the same
// window.
template <Block B, class T, class Op>
SYM_FN void all_reduce_halving_doubling(B& block, const Group& group, Window<T> in, Window<T> work,
                                        Window<T> out, std::size_t n, Op op) {
  const Extent all{in, n}, arrivals{work, halving_work<T>(n, group.team.size(), block.count())},
      result{out, n};
  if (!apart_or_in_place(block, all, result) || !work_is_apart(block, all, arrivals, result))
    return;
  const Range part = rows_of<T>(block, n)(0);
  const std::size_t room = detail::halving_room<T>(part.first, group.team.size(), block.index());
  detail::greet_partners(block, group);
  if (!detail::halving_doubling(block, group, detail::Halving<T>{in, work.at(room), out, part}, op))
    return;
  block.quiet();  // `in` and `out` are the caller's again
}

}  // namespace sym
