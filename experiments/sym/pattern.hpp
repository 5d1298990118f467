// Test data that names itself: each value is a function of (iteration, PE, index), and what every
// operator makes of it is known without a second implementation of the algorithm.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/ops.hpp"
#include "core/types.hpp"

namespace sym::command {

inline std::uint64_t mix(std::uint64_t x) {  // splitmix64
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

// Values repeat after this many elements: a prime, so that no share, tile or page is a multiple of
// it.
inline constexpr std::size_t pattern_period = 8191;

struct PatternKey {
  std::uint64_t seed = 1;
  int iteration = 0;
  int pes = 1;
};

// Small integers for which every partial result of `Op` over all PEs is exact in T (bf16 holds
// integers up to 256), so that any difference is a communication error.
template <class T, class Op>
std::vector<T> exact_pattern(const PatternKey& key, int pe) {
  using A = Accumulator<T>;
  const bool prod = std::is_same_v<Op, Prod>;
  const int holders = key.pes < 128 ? key.pes : 128;  // PEs with a value other than 0
  const auto range = static_cast<std::uint64_t>(prod ? 2 : 256 / holders);
  std::vector<T> values(pattern_period);
  for (std::size_t i = 0; i < pattern_period; ++i) {
    const std::uint64_t h =
        mix(mix(key.seed * 1000003 + static_cast<std::uint64_t>(key.iteration)) ^
            (static_cast<std::uint64_t>(pe) << 32) ^ i);
    std::uint64_t value = h % range;
    if (key.pes > holders &&
        (static_cast<std::uint64_t>(pe) + i) % static_cast<std::uint64_t>(key.pes) >=
            static_cast<std::uint64_t>(holders)) {
      value = 0;
    }
    // Products: ones, and a two on a few PEs, so that bf16 and u8 hold the result.
    if (prod) value = (pe < 6 && value == 1) ? 2 : 1;
    values[i] = narrow<T>(static_cast<A>(value));
  }
  return values;
}

// Floats between -1 and 1 (integers: any), for comparing bits between backends.
template <class T>
std::vector<T> random_pattern(const PatternKey& key, int pe) {
  using A = Accumulator<T>;
  std::vector<T> values(pattern_period);
  for (std::size_t i = 0; i < pattern_period; ++i) {
    const std::uint64_t h =
        mix(mix(key.seed + 77) ^ mix((static_cast<std::uint64_t>(key.iteration) << 40) ^
                                     (static_cast<std::uint64_t>(pe) << 20) ^ i));
    if constexpr (std::is_floating_point_v<A>) {
      values[i] = narrow<T>(static_cast<A>(static_cast<double>(h >> 11) * 0x1p-52 - 1.0));
    } else {
      values[i] = static_cast<T>(h);
    }
  }
  return values;
}

// What `Op` makes of the patterns of `pes`, in rank order with one rounding.
template <class T, class Op>
std::vector<T> reduced(const std::vector<std::vector<T>>& patterns, Op op) {
  std::vector<T> values(pattern_period);
  for (std::size_t i = 0; i < pattern_period; ++i) {
    auto total = widen(patterns[0][i]);
    for (std::size_t pe = 1; pe < patterns.size(); ++pe)
      total = op.combine(total, widen(patterns[pe][i]));
    values[i] = narrow<T>(op.finish(total, static_cast<int>(patterns.size())));
  }
  return values;
}

// Element i of the vector is pattern[(i + shift) % period].
template <class T>
void fill(T* to, std::size_t n, const std::vector<T>& pattern, std::size_t shift) {
  std::size_t done = 0;
  while (done < n) {
    const std::size_t at = (done + shift) % pattern_period;
    const std::size_t run = std::min(pattern_period - at, n - done);
    std::memcpy(to + done, pattern.data() + at, run * sizeof(T));
    done += run;
  }
}

// 64-bit hash of bytes, fed in parts: FNV-1a over 8-byte words, mixed, then over the rest. Every
// part but the last must be a multiple of 8 bytes long.
class Hash {
 public:
  void add(const void* data, std::size_t bytes) {
    const auto* at = static_cast<const unsigned char*>(data);
    std::size_t i = 0;
    for (; i + 8 <= bytes; i += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, at + i, 8);
      value_ = (value_ ^ word) * 1099511628211ULL;
      value_ ^= value_ >> 29;
    }
    for (; i < bytes; ++i) value_ = (value_ ^ at[i]) * 1099511628211ULL;
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 14695981039346656037ULL;
};

inline std::uint64_t hash_bytes(const void* data, std::size_t bytes) {
  Hash hash;
  hash.add(data, bytes);
  return hash.value();
}

}  // namespace sym::command
