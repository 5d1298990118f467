// What a message of packets is to a machine: data with their flags, and how many lanes take it.
#pragma once

#include <algorithm>
#include <cmath>

#include "core/launch.hpp"
#include "models/machine.hpp"
#include "models/times.hpp"

namespace sym::models {

// Bytes on the wire, and in memory, for each byte of payload: a packet is 16 bytes, 4 of them its
// flag.
inline constexpr double packet_bytes = 16, packet_wire = packet_bytes / 12;

// Messages of `bytes` to each of `peers` others, from each PE, or from one alone (one_way).
struct PacketJob {
  double bytes = 0;
  int peers = 1;
  bool one_way = false;
};

// What a PE sends each other in one_shot of a job; of a broadcast, the root.
inline PacketJob messages_of(const Job& job) {
  const bool one_way = job.algorithm == "broadcast";
  const bool whole = one_way || job.algorithm == "all_reduce";
  return {whole ? job.bytes : job.bytes / job.pes, job.pes - 1, one_way};
}

struct PacketGrid {
  int blocks = 1;
  int threads = 128;
};

// What the grid decides of such messages' time: packets on the wire, passes of the lanes, and each
// further block and warp. A lane sends groups of 16 bytes, up to three at a time; one alone fills
// two packets, but its lane waits for nothing else.
inline double packet_grid_us(const Machine& machine, const PacketJob& job, const PacketGrid& grid) {
  constexpr double group_bytes = 16, most_groups = 3, lanes_of_warp = 32;
  const double of_block = std::ceil(job.bytes / group_bytes / grid.blocks);
  const double of_lane = std::max(1.0, std::ceil(of_block / grid.threads));
  const double at_once = std::min(of_lane, most_groups);
  const double passes = of_lane > 1 ? std::ceil(of_lane / most_groups) : 0;
  const double port_gbps = machine.number(job.one_way ? "port_oneway_gbps" : "port_gbps");
  return job.peers * job.bytes * (at_once + 1) / at_once / (port_gbps * 1e3) +
         passes * machine.number_or("packet_pass_us", 0) +
         (grid.blocks - 1) * machine.number_or("block_us", 0) +
         grid.threads / lanes_of_warp * machine.number_or("warp_us", 0);
}

// The threads with which a launch of so many blocks takes least, from a warp for each scheduler of
// an SM on: powers of two, as many as a block may have.
inline PacketGrid with_threads(const Machine& machine, const PacketJob& job, int blocks) {
  constexpr int fewest = 128, most = most_threads;
  PacketGrid best{blocks, fewest};
  for (PacketGrid grid = best; grid.threads <= most; grid.threads *= 2) {
    if (packet_grid_us(machine, job, grid) < packet_grid_us(machine, job, best)) best = grid;
  }
  return best;
}

// The grid of at most so many blocks with which they take least.
inline PacketGrid packet_grid(const Machine& machine, const PacketJob& job, int most_blocks) {
  PacketGrid best = with_threads(machine, job, 1);
  for (int blocks = 2; blocks <= most_blocks; ++blocks) {
    const PacketGrid grid = with_threads(machine, job, blocks);
    if (packet_grid_us(machine, job, grid) < packet_grid_us(machine, job, best)) best = grid;
  }
  return best;
}

}  // namespace sym::models
