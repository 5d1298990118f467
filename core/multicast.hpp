// MulticastBlock: a Block whose PEs meet in switches that store to all of them at once and reduce
// what they load from all (NVLink SHARP: multimem.st and multimem.ld_reduce).
//
// A refinement of Block: an algorithm that asks for it runs only where a backend has it.
#pragma once

#include "core/block.hpp"

namespace sym {

// A window of all members of a team at once, as the switch sees it. A value; owns nothing. A
// backend binds the memory behind it beforehand.
template <class T>
struct Multicast {
  using value_type = T;
  Window<T> window;
  Team team;

  SYM_HD constexpr Multicast at(std::size_t first) const {
    return Multicast{window.at(first), team};
  }
};
template <class T>
SYM_HD constexpr Multicast<T> multicast(Window<T> window, const Team& team) {
  return {window, team};
}

// clang-format off
template <class B>
concept MulticastBlock = Block<B> && requires(B block, Multicast<float> all, Window<float> window,
                                              Local<float> local, Range range) {
  // dst[range] on every member (on this PE too, unless that is src) becomes src[range] of this PE. Sent
  // once. Transfer: ordered by a fence to each member, complete on all of them after quiet.
  block.put(all, window, range);
  block.put(all, local, range);
  // dst[range] = op over the members of src[range], combined by the switch in an order of its own in
  // Accumulator<T>, rounded once; received once. Blocking: on return the sources have been read.
  block.reduce(window, all, range, Sum{});
  block.reduce(local, all, range, Sum{});
  // Both: dst[range] on every member becomes that. The sources have been read on return; the
  // destinations, this PE's too, are written as by put. dst and src may be the same window.
  block.reduce(all, all, range, Sum{});
};
// clang-format on

// What a kernel says on a block that is none.
inline constexpr const char* needs_multicast =
    "the variant needs multicast, which this backend does not have";

// As BlockArchetype: a MulticastBlock by these declarations alone.
struct MulticastArchetype : BlockArchetype {
  using BlockArchetype::put;
  using BlockArchetype::reduce;
  template <class T, Operand S>
  SYM_FN void put(Multicast<T>, S, Range, Site = {}) {}
  template <Operand D, class T, class Op>
  SYM_FN void reduce(D, Multicast<T>, Range, Op, Site = {}) {}
  template <class T, class Op>
  SYM_FN void reduce(Multicast<T>, Multicast<T>, Range, Op, Site = {}) {}
};
static_assert(MulticastBlock<MulticastArchetype>);
static_assert(!MulticastBlock<BlockArchetype>);

}  // namespace sym
