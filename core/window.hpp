// Window and Local: the two kinds of memory that a verb may name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "core/function.hpp"
#include "core/range.hpp"

namespace sym {

// Which of a PE's segments a window lies in. Payload may have no storage in a simulation without
// data; control (counts, offsets, counters) always has.
enum class Segment : std::uint32_t { payload = 0, control = 1 };

// `count` elements of symmetric memory: the same handle names the same place on every PE. Trivially
// copyable; owns nothing. Allocation starts zeroed on every PE (World::allocate).
template <class T>
struct Window {
  using value_type = T;
  Segment segment = Segment::payload;
  std::size_t offset_bytes = 0;
  std::size_t count = 0;

  // The part that starts at element `first`: element i of the result is element first + i of this.
  SYM_HD constexpr Window at(std::size_t first) const {
    return Window{segment, offset_bytes + first * sizeof(T), count - first};
  }
  SYM_HD constexpr Range all() const { return Range{0, count}; }
  // The same bytes seen as elements of U. The offset must suit U's alignment.
  template <class U>
  SYM_HD constexpr Window<U> as() const {
    return Window<U>{segment, offset_bytes, count * sizeof(T) / sizeof(U)};
  }
};

// Ordinary memory of this PE (a device pointer on GPUs): a source or destination wherever no peer
// must address it. Owns nothing; must outlive the launch.
template <class T>
struct Local {
  using value_type = std::remove_const_t<T>;
  T* data = nullptr;
  std::size_t count = 0;

  SYM_HD constexpr Local at(std::size_t first) const { return Local{data + first, count - first}; }
  SYM_HD constexpr Range all() const { return Range{0, count}; }
};

// Memory of one block, for the time of a launch: shared memory on GPUs. Laid out by the algorithm,
// within LaunchConfig::scratch_bytes; what it holds at the start of a launch is undefined. The
// offset must suit T's alignment. No transfer reads or writes it.
template <class T>
struct Scratch {
  using value_type = T;
  std::size_t offset_bytes = 0;
  std::size_t count = 0;

  SYM_HD constexpr Scratch at(std::size_t first) const {
    return Scratch{offset_bytes + first * sizeof(T), count - first};
  }
  SYM_HD constexpr Range all() const { return Range{0, count}; }
};

template <class>
inline constexpr bool is_window = false;
template <class T>
inline constexpr bool is_window<Window<T>> = true;
template <class>
inline constexpr bool is_local = false;
template <class T>
inline constexpr bool is_local<Local<T>> = true;

template <class>
inline constexpr bool is_scratch = false;
template <class T>
inline constexpr bool is_scratch<Scratch<T>> = true;

// What a transfer accepts where only this PE need address the memory.
template <class M>
concept Operand = is_window<M> || is_local<M>;

// A part of a memory for each member of a team: that of rank r starts `stride` elements after that
// of rank r - 1. Stride 0: one part for all.
template <Operand M>
struct PerMember {
  using value_type = typename M::value_type;
  M first;
  std::size_t stride = 0;

  SYM_HD constexpr M of(int rank) const {
    return first.at(static_cast<std::size_t>(rank) * stride);
  }
};
template <Operand M>
SYM_HD constexpr PerMember<M> per_member(M first, std::size_t stride) {
  return {first, stride};
}

// Where a verb that reads its source once puts its result, and the source as it was read besides.
template <class D, class K>
struct WithSource {
  D result;
  K source;
};
// What a verb accepts that computes on this block's side.
template <class M>
concept Memory = Operand<M> || is_scratch<M>;

}  // namespace sym
