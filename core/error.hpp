// Errors of the host side. Each carries one sentence: what, where, what would be accepted.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>

namespace sym {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Bad usage or input (exit status 2 of the command).
class UsageError : public Error {
 public:
  using Error::Error;
};

// Wrong data, a race, a deadlock, an expired wait (exit status 1).
class Failure : public Error {
 public:
  using Error::Error;
};

// This machine or build lacks what was asked for (exit status 3).
class Unavailable : public Error {
 public:
  using Error::Error;
};

// Bytes of `count` elements of `element` bytes each, of one allocation. Throws UsageError beyond
// 2^46 (64 TiB): no machine has that much, and sums of offsets must not wrap.
inline std::size_t bytes_of(std::size_t count, std::size_t element) {
  constexpr std::size_t most = std::size_t{1} << 46;
  if (element != 0 && count > most / element) {
    throw UsageError(std::to_string(count) + " elements of " + std::to_string(element) +
                     " bytes are more than one allocation may have (2^46 bytes)");
  }
  return count * element;
}

}  // namespace sym
