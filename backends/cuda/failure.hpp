// What a device writes about the first thing that went wrong on its PE, and what a kernel is told
// of the world. Plain data, shared by host and device code; knows no CUDA header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace sym::cuda {

enum class FailureKind : std::uint32_t {
  none = 0,
  expired = 1,   // a wait ran past its deadline
  mismatch = 2,  // a tagged row shows this epoch with another operation's tag
  busy = 3,      // enter() found the channel's row claimed by another launch
  refused = 4,   // an argument out of bounds: slot, peer or range; or what `require` wanted
};

// One a PE, in pinned host memory that the device can write. The device claims the right to write
// it by the flag in device memory (KernelContext::failed); `kind` is written last.
struct FailureRecord {
  static constexpr int text_size = 96;
  static constexpr int verb_size = 24;
  static constexpr int what_size = 81;
  FailureKind kind = FailureKind::none;
  int pe = 0;
  int block = 0;
  int peer = -1;
  int line = 0;
  std::uint64_t slot = 0;
  std::uint64_t expected = 0;
  std::uint64_t seen = 0;
  const char* kernel = nullptr;  // the host's own string, carried through the device unread
  char verb[verb_size] = {};
  char what[what_size] = {};  // not empty: what had to hold, with `seen` against `expected`
  char file[text_size] = {};
};

// Passed to every kernel by value. The peers' copies of the heap lie `pitch_bytes` apart, so that
// the address of anything on any PE is arithmetic, never a load. Both segments of a PE lie in its
// heap. A PE's own memory is addressed this way too: another mapping of it would need alias fences.
struct KernelContext {
  char* base = nullptr;  // heap of PE 0 as this device addresses it
  char* own = nullptr;   // and that of this PE
  std::size_t pitch_bytes = 0;
  int pe = 0;
  int n_pes = 1;
  std::size_t scratch_bytes = 0;    // of each block
  std::uint64_t wait_limit_ns = 0;  // 0: none
  std::uint32_t* failed = nullptr;  // device memory; not 0 after the first failure
  FailureRecord* record = nullptr;  // device address of pinned host memory
  const char* kernel = "";          // host string, for the record only
};

// One sentence: what design 2.2 says a report names.
std::string verdict(const FailureRecord& record, double wait_limit_ms);

}  // namespace sym::cuda
