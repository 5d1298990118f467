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
                  queue_put, queue_get, gemm, post, take, record, after,
                  reduce_packets_wait, transform_by_sum_keep, transform_by_sum_first, transform_by_sum,
                  multicast_put, multicast_reduce, multicast_all_reduce,
                  world_team, world_allocate, world_allocate_control, world_free, world_local,
                  world_channel, world_write, world_read, world_launch, world_queue, world_posts,
                  world_synchronize, world_barrier, world_begin_capture, world_end_capture,
                  world_replay, world_recover, world_mark_us, host_put, host_get, host_launch,
                  host_gemm, host_prepare, host_post, host_take, host_record, host_after };
// clang-format on
// As the program calls it. Some calls are several steps, which are told apart here and have one
// name: reduce_packets waits before it reduces, receive_packets before it stores (store_packets),
// and transform_by_sum keeps its source, where it does, and sums first.
const char* to_string(Verb verb);
// The last step of a call of several.
constexpr bool goes_on(Verb verb) {
  return verb == Verb::reduce_packets || verb == Verb::store_packets ||
         verb == Verb::transform_by_sum;
}
// Of a host program: its calls of a World or a Queue, the last of which it is in or has come back
// from.
constexpr bool is_of_host(Verb verb) { return verb == Verb::host || verb >= Verb::world_team; }
constexpr bool is_copy(Verb verb) { return verb == Verb::queue_put || verb == Verb::queue_get; }

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
