// How NCCL cuts what it moves: into channels, slices and messages. Not for other folders.
#pragma once

#include "models/nccl.hpp"
#include "models/tuner_table.hpp"

namespace sym::models::detail {

// What the requests for the messages of one step take at the busiest proxy: its channels' slices
// one after the other. 0 for what is not a ring, and in one node.
double ring_requests_us(const NcclSystem& system, const NcclCall& call, const NcclChoice& choice);

// Payload that all channels of a ring copy at most; infinite where one's rate is not known.
double ring_channels_gbps(const NcclSystem& system, const NcclChoice& choice);

// Sends and receives of all pairs at once. NCCL's tuner does not know them: a ring's base and one
// step are taken for their latency, and all lanes or NICs for their rate, or the channels that
// NCCL gives them.
NcclChoice nccl_sends(const NcclSystem& system, const NcclCall& call);

// What a NIC of `gbps` is worth to sends between nodes, whose messages it takes one after the other
// with the requests for each.
double sends_nic_gbps(const NcclSystem& system, const NcclCall& call, double gbps);

}  // namespace sym::models::detail
