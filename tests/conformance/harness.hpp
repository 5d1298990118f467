// What every conformance case uses: data that names itself, and errors collected from all PEs.
//
// A case is a host program, written once as `template <World W> void program(W&, Errors&)`; the
// stamping headers (stamp_*.hpp, stamp_cuda.cuh) run it on their backend. PEs may be threads, so a
// case adds to Errors, and the main thread expects none.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <mutex>
#include <ostream>
#include <string>
#include <vector>

#include "core/ops.hpp"
#include "core/types.hpp"
#include "core/world.hpp"

namespace sym::conformance {

class Errors {
 public:
  void add(const std::string& text) {
    const std::lock_guard lock(mutex_);
    if (++count_ <= most) text_ += text + "\n";
  }
  std::string text() const {
    const std::lock_guard lock(mutex_);
    return count_ <= most ? text_ : text_ + "... " + std::to_string(count_) + " in all\n";
  }

 private:
  static constexpr int most = 8;
  mutable std::mutex mutex_;
  std::string text_;
  int count_ = 0;
};

// How many schedules of the checker a case is worth.
enum class Effort { every_schedule, worst_only };

template <class W>
struct Case {
  std::string name;
  std::vector<int> pes;
  std::function<void(W&, Errors&)> program;
  Effort effort = Effort::every_schedule;
  int least_pes = 1;  // that the program makes sense with
  friend void PrintTo(const Case& one, std::ostream* out) { *out << one.name; }  // for GoogleTest
};

// What has no time for all (tests/CMakeLists.txt says what) has kernels for few types and
// operators: each kernel for a float of 16 bits and for one type more, each operator in two
// kernels.
#if defined(SYM_FEW_KERNELS)
inline constexpr bool few_kernels = true;
#else
inline constexpr bool few_kernels = false;
#endif

// --- data ----------------------------------------------------------------------------------------

SYM_HD constexpr std::uint64_t mixed(std::uint64_t x) {  // splitmix64
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

struct Origin {
  int iteration = 0;
  int pe = 0;
  int holders = 1;  // PEs whose values are combined
};

// Integers small enough that every partial result of Op over the holders is exact in T (bf16 holds
// all up to 256): any difference is a communication error, and hardly any two places look alike.
template <class T, class Op = Sum>
T value(const Origin& origin, std::size_t i) {
  const std::uint64_t hash = mixed(mixed(static_cast<std::uint64_t>(origin.iteration) * 1009 +
                                         static_cast<std::uint64_t>(origin.pe)) ^
                                   i);
  const std::uint64_t range =
      origin.holders < 128 ? 256 / static_cast<std::uint64_t>(origin.holders) : 2;
  std::uint64_t number = hash % range;
  if (std::is_same_v<Op, Prod>) number = origin.pe < 6 && hash % 2 == 1 ? 2 : 1;
  return narrow<T>(static_cast<Accumulator<T>>(number));
}

template <class T, class Op = Sum>
std::vector<T> values(const Origin& origin, std::size_t n, std::size_t first = 0) {
  std::vector<T> all(n);
  for (std::size_t i = 0; i < n; ++i) all[i] = value<T, Op>(origin, first + i);
  return all;
}

// Op over what the PEs of `team` bring, in rank order.
template <class T, class Op>
std::vector<T> combined(int iteration, const Team& team, std::size_t n, std::size_t first, Op op) {
  std::vector<T> all(n);
  for (std::size_t i = 0; i < n; ++i) {
    auto total = widen(value<T, Op>({iteration, team.pe(0), team.size()}, first + i));
    for (int rank = 1; rank < team.size(); ++rank) {
      total = op.combine(total,
                         widen(value<T, Op>({iteration, team.pe(rank), team.size()}, first + i)));
    }
    all[i] = narrow<T>(op.finish(total, team.size()));
  }
  return all;
}

// Floats in (-1, 1) of which almost every sum is rounded: they tell one order from another.
template <class T>
std::vector<T> rough(int pe, std::size_t n) {
  std::vector<T> all(n);
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint64_t hash = mixed(mixed(static_cast<std::uint64_t>(pe) + 991) ^ i);
    all[i] =
        narrow<T>(static_cast<Accumulator<T>>(static_cast<double>(hash >> 11) * 0x1p-52 - 1.0));
  }
  return all;
}

// --- looking at results --------------------------------------------------------------------------

template <class T>
bool same_bits(T a, T b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

template <class T>
void expect_equal(Errors& errors, const std::string& what, const std::vector<T>& got,
                  const std::vector<T>& wanted) {
  if (got.size() != wanted.size()) {
    errors.add(what + ": " + std::to_string(got.size()) + " elements, expected " +
               std::to_string(wanted.size()));
    return;
  }
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (same_bits(got[i], wanted[i])) continue;
    char text[96];
    std::snprintf(text, sizeof(text), "element %zu is %.9g, expected %.9g", i,
                  static_cast<double>(widen(got[i])), static_cast<double>(widen(wanted[i])));
    errors.add(what + ": " + text);
    return;
  }
}

template <World W>
std::string who(W& world, const std::string& what) {
  return "PE " + std::to_string(world.pe()) + " of " + std::to_string(world.n_pes()) + ", " + what;
}

// Rubbish: no case has this value anywhere.
template <class T>
std::vector<T> poison(std::size_t n) {
  std::vector<T> all(n);
  if (n != 0) std::memset(static_cast<void*>(all.data()), 0xA5, n * sizeof(T));
  return all;
}

template <World W, class M, class T>
void write_all(W& world, M memory, const std::vector<T>& from) {
  world.write(memory, from.data(), from.size());
}

template <World W, class M>
auto read_all(W& world, M memory, std::size_t n) {
  std::vector<typename M::value_type> all(n);
  world.read(all.data(), memory, n);
  return all;
}

inline LaunchConfig launch_of(const char* name, int blocks = 1, int stream = 0,
                              bool symmetric = true) {
  LaunchConfig config;
  config.symmetric = symmetric;
  config.name = name;
  config.blocks = blocks;
  config.threads = 128;
  config.stream = stream;
  return config;
}

// Plain counters: one word a slot.
template <World W>
Signals counters(W& world, std::size_t slots) {
  Signals signals;
  signals.words = world.template allocate_control<std::uint64_t>(slots);
  signals.slots = slots;
  signals.lanes = 1;
  return signals;
}

}  // namespace sym::conformance
