// Footprint: what one event of an execution touched, named so that the same event of another
// execution of the program has the same. Two events of different processes whose footprints do not
// conflict may change places, and nothing that anybody can see changes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "backends/fiber/memory.hpp"

namespace sym::check {

struct Touch {
  // taken: a word of which the agent has taken the signal that it waited for, whatever came after.
  enum class Kind : std::uint8_t { memory, local, word, taken, control };
  Kind kind = Kind::memory;
  bool write = false;
  int pe = 0;
  int space = 0;  // an allocation, or which of the PE's local arrays
  std::size_t begin = 0, end = 0;
  // Words. A delivery: the value that it found. A wait: what it needs, after `shift`.
  std::uint64_t value = 0;
  int shift = 0;

  bool meets(const Touch& other) const {
    if (pe != other.pe || space != other.space) return false;
    if (is_word() && other.kind == Kind::memory) return other.lies_on(*this);
    if (kind == Kind::memory && other.is_word()) return lies_on(other);
    return kind == other.kind && begin < other.end && other.begin < end;
  }
  bool is_word() const { return kind == Kind::word || kind == Kind::taken; }
  // Memory: whether it has bytes of the words.
  bool lies_on(const Touch& words) const {
    constexpr std::size_t size = sizeof(std::uint64_t);
    return begin < words.end * size && words.begin * size < end;
  }
};

struct Footprint {
  std::vector<Touch> touches;
  bool all = false;  // conflicts with everything: it ended the run

  // Adds a range of memory. Scratch is left out: it is its block's own.
  void add(const fiber::Memory& memory, const fiber::Bytes& bytes, bool write);
};

bool conflict(const Footprint& a, const Footprint& b);

// Whether `later` waits for a word that was not there yet when `earlier` was delivered: it cannot
// come before.
bool enables(const Footprint& earlier, const Footprint& later);

}  // namespace sym::check
