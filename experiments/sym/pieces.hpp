// In how many pieces a pipeline sends, and what blocks put beside a copy engine, from the machine's
// numbers.
#pragma once

#include <algorithm>
#include <cmath>

#include "experiments/sym/point.hpp"
#include "models/times.hpp"

namespace sym::command {

// C pieces of m bytes in all over h hops take (h + C - 1)(latency + m / (C x rate)), which is least
// for C = sqrt((h - 1) m / (latency x rate)). A ring's hop is two: the piece's way, and its sum.
inline int pieces_of(const models::Machine& machine, const Point& point) {
  if (point.variant == "staged" || point.variant == "push") {
    return models::pieces_of_share(machine,
                                   {point.algorithm, point.pes, static_cast<double>(point.bytes)},
                                   point.variant, point.blocks);
  }
  const bool rails = point.variant == "hierarchical_tree" || point.variant == "nvls_tree";
  const bool ring = point.variant == "ring_pipelined";
  if (!rails && !ring && point.variant != "double_tree") return 1;
  const int ranks = rails ? point.pes / point.per_node : point.pes;
  const bool through_nics = point.pes > machine.gpus_per_node;
  const double latency_us = through_nics
                                ? machine.number("nic_post_us") + machine.number("nic_latency_us")
                                : machine.number("release_us") + machine.number("flag_us");
  const double gbps = machine.number(through_nics ? "nic_gbps" : "port_gbps");
  const double hops = ring ? 2 : std::max(2.0, std::ceil(std::log2(ranks)));
  // A ring passes parts on; both trees together carry a PE's bytes, those of a rail a share.
  const double bytes = static_cast<double>(point.bytes) / (ring    ? point.pes
                                                           : rails ? point.per_node
                                                                   : 1);
  const double best = std::sqrt((hops - 1) * bytes / (latency_us * gbps * 1e3));
  const double most = bytes / (16.0 * point.blocks);  // wide accesses of a block
  return std::max(1, static_cast<int>(std::min(best, most)));
}

// `asked` bytes of each part, or for -1 what the machine's numbers say; of copy_engine alone.
inline std::size_t head_of(const models::Machine& machine, const Point& point, long long asked) {
  if (point.variant != "copy_engine") return 0;
  if (asked >= 0) return static_cast<std::size_t>(asked);
  return static_cast<std::size_t>(models::head_bytes(
      machine, {point.algorithm, point.pes, static_cast<double>(point.bytes)}, point.blocks));
}

}  // namespace sym::command
