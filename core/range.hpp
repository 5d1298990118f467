// Ranges of elements and how they are cut. Units: elements (size_t everywhere, so 2^31 is no
// limit).
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/function.hpp"

namespace sym {

// Elements [first, first + count) of a window or a local array.
struct Range {
  std::size_t first = 0;
  std::size_t count = 0;

  SYM_HD constexpr std::size_t end() const { return first + count; }
  SYM_HD constexpr bool empty() const { return count == 0; }
  SYM_HD friend constexpr bool operator==(Range a, Range b) {
    return a.first == b.first && a.count == b.count;
  }
};

// A range with the place in the source that named it: verbs that end in a parameter pack take this,
// so that reports can say where they were called.
struct RangeAt {
  Range range;
  Site site;
  SYM_HD constexpr RangeAt(Range r, Site s = Site::here())
      : range(r), site(s) {}  // NOLINT: implicit
};

// Elements of T in one 16-byte access: the granule at which shares are cut, so that every share but
// the last starts where a wide access may start.
template <class T>
inline constexpr std::size_t granule = sizeof(T) >= 16 ? 1 : 16 / sizeof(T);

namespace detail {
// `index` of `parts` parts of [0, count), in the arithmetic of U, which holds count + unit.
template <class U>
SYM_HD constexpr Range chunk_in(U count, U index, U parts, U unit) {
  const U units = count / unit + (count % unit != 0 ? 1 : 0);
  const U share = units / parts;
  const U longer = units - share * parts;  // the first `longer` parts get one unit more
  const U begin = (share * index + (index < longer ? index : longer)) * unit;
  const U size = (share + (index < longer ? 1 : 0)) * unit;
  const U first = begin < count ? begin : count;
  const U left = count - first;
  return Range{first, size < left ? size : left};
}
}  // namespace detail

// Part `index` of `parts` of `range`. The parts are consecutive, cover the range exactly, and their
// sizes differ by at most one unit of `unit` elements (the last may be shorter). Parts may be
// empty. Requires 0 <= index < parts and unit >= 1.
SYM_HD constexpr Range chunk(Range range, int index, int parts, std::size_t unit = 1) {
  const std::size_t i = static_cast<std::size_t>(index);
  const std::size_t n = static_cast<std::size_t>(parts);
  // Small ranges in half the width: on GPUs a division of 64 bits takes as long as a message.
  const bool small = ((range.count | unit) >> 30) == 0;
  const Range part =
      small ? detail::chunk_in<std::uint32_t>(
                  static_cast<std::uint32_t>(range.count), static_cast<std::uint32_t>(i),
                  static_cast<std::uint32_t>(n), static_cast<std::uint32_t>(unit))
            : detail::chunk_in<std::size_t>(range.count, i, n, unit);
  return Range{range.first + part.first, part.count};
}

}  // namespace sym
