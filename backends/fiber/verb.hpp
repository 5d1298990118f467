// Verb and Step: what an agent of the engine is about to do.
#pragma once

#include <cstddef>

#include "core/function.hpp"
#include "core/team.hpp"

namespace sym::fiber {

// clang-format off
enum class Verb { host, start, put, get, put_signal, put_value, signal, wait_until, test, fence, quiet,
                  sync, reduce, transform, sum, max, fetch_add, enter, leave,
                  put_packets, receive_packets, reduce_packets, store_packets,
                  read, tally, scan, weighted_sum, warps, require, reduce_slots,
                  copy, gemm, post, take, record, after,
                  multicast_put, multicast_reduce, multicast_all_reduce };
// clang-format on
const char* to_string(Verb verb);

// What an agent is about to do: enough for a cost and for a report.
struct Step {
  Verb verb = Verb::host;
  Site site = {};
  std::size_t bytes = 0;  // of the result: moved, written or folded
  int operands = 1;       // local sources read beside it
  int pe = -1;            // the peer, where there is one
  const Team* team = nullptr;
  std::size_t m = 0, n = 0, k = 0;  // gemm
};

}  // namespace sym::fiber
