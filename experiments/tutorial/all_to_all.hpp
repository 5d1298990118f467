// all_to_all_direct: out[s*n + i] on rank d = in[d*n + i] of rank s. The tutorial's kernel, apart
// from the shipped all_to_all (core/collective).
//
// Called by every block of a launch on every member, with equal n and grid. `in` and `out` hold
// size*n elements and must not overlap. When the launch has ended, `out` may be read and `in`
// rewritten.
#pragma once

#include "core/collective/barrier.hpp"
#include "core/collective/share.hpp"

namespace tutorial {

// Every PE puts one row to every peer: one hop, (P-1) n elements each way. No arithmetic: the same
// bits everywhere. Block b moves, and waits for, part b of each row.
template <sym::Block B, class T, sym::Operand In>
SYM_FN void all_to_all_direct(B& block, const sym::Group& group, In in, sym::Window<T> out,
                              std::size_t n) {
  const sym::Team& team = group.team;
  const sym::Signals& steps = group.channel.steps;
  const std::size_t slot = static_cast<std::size_t>(block.index());
  const std::size_t me = static_cast<std::size_t>(team.rank());
  const sym::Range part = sym::rows_of<T>(block, n)(0);
  const sym::Window<T> place = out.at(me * n);  // this PE's row, on every PE

  if (!barrier(block, group)) return;            // every peer's output may be written
  for (int hop = 1; hop < team.size(); ++hop) {  // staggered: no PE is everyone's target at once
    const int rank = (team.rank() + hop) % team.size();
    block.put_signal(place, in.at(static_cast<std::size_t>(rank) * n), part, steps, slot,
                     team.pe(rank));
  }
  block.transform(place, part, sym::detail::Identity{}, in.at(me * n));
  if (!block.wait_until(steps, slot, team)) return;  // every peer's row is here
  block.quiet();                                     // this PE's input has been read
}

// What is launched: a function object, copied by value.
template <class T>
struct AllToAll {
  sym::Group group;
  sym::Window<T> in, out;
  std::size_t n;

  template <sym::Block B>
  SYM_FN void operator()(B& block) const {
    block.enter(group.channel);
    all_to_all_direct(block, group, in, out, n);
    block.leave(group.channel);
  }
};

}  // namespace tutorial
