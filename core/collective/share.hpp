// How the elements of a collective are cut, first by rank and then by block, and the element
// functions that collectives share.
//
// An algorithm that synchronises only blocks of equal index must let block b touch, on every PE,
// nothing but the parts of index b.
#pragma once

#include "core/block.hpp"

namespace sym {

// n elements cut to a share for each rank, and each share to a part for each block.
template <class T>
struct Shares {
  std::size_t n = 0;
  int ranks = 1;
  int block = 0;
  int blocks = 1;

  SYM_HD constexpr Range operator()(int rank) const {
    return chunk(chunk(Range{0, n}, rank, ranks, granule<T>), block, blocks, granule<T>);
  }
};

// ranks * n elements, n for each rank, and each n cut to a part for each block.
template <class T>
struct Rows {
  std::size_t n = 0;
  int block = 0;
  int blocks = 1;

  SYM_HD constexpr Range operator()(int rank) const {
    const Range part = chunk(Range{0, n}, block, blocks, granule<T>);
    return Range{static_cast<std::size_t>(rank) * n + part.first, part.count};
  }
};

// The parts chunk(range, 0 .. count - 1, count, granule<T>), divided once for all: on GPUs a
// division takes a good part of what a message takes.
template <class T>
class Pieces {
 public:
  SYM_HD constexpr Pieces(Range range, int count) : range_(range) {
    const std::size_t units = range.count / granule<T> + (range.count % granule<T> != 0 ? 1 : 0);
    const std::size_t parts = static_cast<std::size_t>(count);
    share_ = units >> 32 == 0
                 ? static_cast<std::uint32_t>(units) / static_cast<std::uint32_t>(count)
                 : units / parts;
    longer_ = units - share_ * parts;
  }
  // Where a part begins; that of index `count` where the range ends.
  SYM_HD constexpr std::size_t begin(int index) const {
    const std::size_t i = static_cast<std::size_t>(index);
    const std::size_t skipped = (share_ * i + (i < longer_ ? i : longer_)) * granule<T>;
    return range_.first + (skipped < range_.count ? skipped : range_.count);
  }
  SYM_HD constexpr Range operator()(int index) const {
    return Range{begin(index), begin(index + 1) - begin(index)};
  }

 private:
  Range range_;
  std::size_t share_ = 0;
  std::size_t longer_ = 0;  // parts that have a granule more, the first ones
};

template <class T, Block B>
SYM_FN Shares<T> shares_of(const B& block, std::size_t n, const Team& team) {
  return Shares<T>{n, team.size(), block.index(), block.count()};
}
template <class T, Block B>
SYM_FN Rows<T> rows_of(const B& block, std::size_t n) {
  return Rows<T>{n, block.index(), block.count()};
}

namespace detail {
// How far on, counted in ranks, the i-th of `size` members is to which a block brings something:
// staggered, so that at no time one PE is everyone's target. Odd blocks begin with this PE itself
// (0) and the others end with it, so that its own memory and its links are busy at the same time.
inline constexpr int hop_kinds = 2;
template <Block B>
SYM_FN int hop_of(const B& block, int i, int size) {
  return (i + (block.index() % hop_kinds == 0 ? 1 : 0)) % size;
}

template <class Op>
struct Combine {
  Op op;
  template <class A>
  SYM_HD constexpr A operator()(A received, A own) const {
    return op.combine(received, own);
  }
  template <class A>
  SYM_HD constexpr A operator()(A before, A own, A behind) const {
    return op.combine(op.combine(before, own), behind);
  }
};
// The last step of a reduction over `operands` operands.
template <class Op>
struct Finish {
  Op op;
  int operands;
  template <class A>
  SYM_HD constexpr A operator()(A received, A own) const {
    return op.finish(op.combine(received, own), operands);
  }
  template <class A>
  SYM_HD constexpr A operator()(A before, A own, A behind) const {
    return op.finish(op.combine(op.combine(before, own), behind), operands);
  }
  template <class A>
  SYM_HD constexpr A operator()(A own) const {
    return op.finish(own, operands);
  }
};
struct Identity {
  template <class A>
  SYM_HD constexpr A operator()(A a) const {
    return a;
  }
};
}  // namespace detail

}  // namespace sym
