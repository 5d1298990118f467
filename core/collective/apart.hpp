// What a collective refuses: an input that overlaps its output in part, and work memory that
// overlaps either (a verb would read what it has written itself, and no order helps) or is too
// small; and less than one piece.
#pragma once

#include <string>

#include "core/block.hpp"
#include "core/error.hpp"

namespace sym {

// n elements of a memory.
template <Operand M>
struct Extent {
  M memory;
  std::size_t n = 0;
};
template <Operand M>
Extent(M, std::size_t) -> Extent<M>;  // clang 14 does not deduce for aggregates

// Whether two extents share no byte. Of a Local, which no peer can address, nothing is known.
template <Operand A, Operand B>
SYM_HD constexpr bool are_apart(const Extent<A>& a, const Extent<B>& b) {
  if constexpr (is_window<A> && is_window<B>) {
    if (a.n == 0 || b.n == 0 || a.memory.segment != b.memory.segment) return true;
    const std::size_t a_end = a.memory.offset_bytes + a.n * sizeof(typename A::value_type);
    const std::size_t b_end = b.memory.offset_bytes + b.n * sizeof(typename B::value_type);
    return a_end <= b.memory.offset_bytes || b_end <= a.memory.offset_bytes;
  } else {
    return true;
  }
}
// Whether they are exactly the same.
template <Operand A, Operand B>
SYM_HD constexpr bool are_same(const Extent<A>& a, const Extent<B>& b) {
  if constexpr (is_window<A> && is_window<B>) {
    return a.memory.segment == b.memory.segment && a.n == b.n &&
           a.memory.offset_bytes == b.memory.offset_bytes;
  } else {
    return false;
  }
}

// Whether the memory has all of its elements. A part that begins behind a memory's end counts
// nearly 2^64.
template <Operand M>
SYM_HD constexpr bool has_room(const Extent<M>& extent) {
  return extent.n <= extent.memory.count && extent.memory.count <= ~std::size_t{0} / 2;
}

// Fails the block, with this sentence, unless the two are apart; and returns whether they are.
// Algorithms then return: no transfer of theirs would be delivered.
template <Block B, Operand In, Operand Out>
SYM_FN bool apart(B& block, const Extent<In>& in, const Extent<Out>& out) {
  return block.require(are_apart(in, out), "the input of a collective does not overlap its output",
                       in.n, out.n);
}
// The same where the input may be `place`, a part of the output or all of it, in place.
template <Block B, Operand In, Operand Out>
SYM_FN bool apart_or_in_place(B& block, const Extent<In>& in, const Extent<Out>& place,
                              const Extent<Out>& out) {
  return block.require(are_same(in, place) || are_apart(in, out),
                       "the input of a collective is in its place, or does not overlap its output",
                       in.n, out.n);
}
template <Block B, Operand In, Operand Out>
SYM_FN bool apart_or_in_place(B& block, const Extent<In>& in, const Extent<Out>& out) {
  return apart_or_in_place(block, in, out, out);
}
// The same for `work`, which may be neither, and has room for what comes to it.
template <Block B, Operand In, Operand Work, Operand Out>
SYM_FN bool work_is_apart(B& block, const Extent<In>& in, const Extent<Work>& work,
                          const Extent<Out>& out) {
  return block.require(are_apart(work, in) && are_apart(work, out),
                       "the work memory of a collective overlaps neither its input nor its output",
                       work.n, out.n) &&
         block.require(has_room(work), "the work memory of a collective has room for what it needs",
                       work.n, work.memory.count);
}
// A part of a share goes in `pieces`.
template <Block B>
SYM_FN bool is_in_pieces(B& block, int pieces) {
  return block.require(pieces >= 1, "what a collective sends in pieces goes in one or more", 0, 1);
}

// The same of operations of queues, on the host: throws UsageError.
template <Operand In, Operand Out>
void require_apart(const Extent<In>& in, const Extent<Out>& out) {
  if (!are_apart(in, out))
    throw UsageError("the input of a collective does not overlap its output; these two do, " +
                     std::to_string(in.n) + " and " + std::to_string(out.n) + " elements");
}
template <Operand In, Operand Work, Operand Out>
void require_work_apart(const Extent<In>& in, const Extent<Work>& work, const Extent<Out>& out) {
  if (!are_apart(work, in) || !are_apart(work, out))
    throw UsageError(
        "the work memory of a collective overlaps neither its input nor its output; this does, "
        "of " +
        std::to_string(work.n) + " elements");
  if (!has_room(work))
    throw UsageError("the work memory of a collective has room for what it needs; this needs " +
                     std::to_string(work.n) + " elements and has " +
                     std::to_string(work.memory.count));
}

}  // namespace sym
