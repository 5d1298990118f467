// LaunchConfig: how a kernel becomes blocks.
#pragma once

#include <cstddef>

#include "core/block.hpp"

namespace sym {

// Lanes of a block, at most: each then has 128 registers of an SM's.
inline constexpr int most_threads = 512;

// How a kernel is launched on one PE's stream. `blocks` must be equal on all PEs of the operation.
struct LaunchConfig {
  const char* name = "kernel";  // short; shown in reports, traces and NVTX ranges; a string literal
  int blocks = 1;
  int threads = most_threads;     // lanes of a block on GPUs; elsewhere meaningless
  int stream = 0;                 // streams of one PE are in order each, unordered among themselves
  std::size_t scratch_bytes = 0;  // of each block's Scratch
  // True: every block does the same amount of the same work, so a simulation may run fewer fibres,
  // each standing for several blocks.
  bool symmetric = true;
  // True: on GPUs its blocks may take their places while the launch before it on the stream still
  // runs, and wait there for its end: it begins sooner, and whatever runs besides has less room.
  bool early = false;
  // Of a symmetric launch: blocks of equal index modulo `kinds` do it in the same order.
  int kinds = 1;
};

namespace detail {
struct ArchetypeKernel {
  template <Block B>
  SYM_FN void operator()(B&) const {}
};
}  // namespace detail

}  // namespace sym
