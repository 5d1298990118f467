// Which variant of a collective to use, from the machine's numbers and closed forms of each
// variant: the least time of (latency + bytes over the port). No size is a constant here.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>

#include "models/machine.hpp"

namespace sym::models {

// A barrier among PEs of one node: an epoch, a release, a flag, and the poll that sees it.
inline double barrier_us(const Machine& machine) {
  return 2 * machine.number("load_local_us") + machine.number("release_us") +
         machine.number("flag_us");
}

// Per byte that a kernel of default_blocks reads or writes in this GPU's own memory.
inline double local_pass_us(const Machine& machine) {
  return 1e-3 / std::min(machine.number("sm_local_gbps") * machine.number("default_blocks"),
                         machine.number("hbm_gbps"));
}

// What the lanes of default_blocks take for their passes over a message, beside its bytes.
inline double packet_passes_us(const Machine& machine, double bytes) {
  const double pass_bytes = machine.number_or("packet_pass_bytes", 0);
  if (pass_bytes <= 0) return 0;
  return std::ceil(bytes / machine.number("default_blocks") / pass_bytes) *
         machine.number_or("packet_pass_us", 0);
}

// Time of an all-reduce of `bytes` on `pes` PEs of one node, without contention (Thakur et al.,
// 2005, in the alpha-beta form with this machine's constants).
inline double all_reduce_us(const Machine& machine, const std::string& variant, int pes,
                            double bytes) {
  const double per_byte_us = 1e-3 / machine.number("port_gbps");
  const double read_us = 1e-3 / machine.number_or("port_read_gbps", machine.number("port_gbps"));
  const double others = pes - 1;
  if (variant == "one_shot") {  // packets: flags double the bytes, and nobody waits for a barrier
    const double local_us = 1e-3 / machine.number("hbm_gbps");
    return 3 * machine.number("load_local_us") + machine.number("flag_us") +
           packet_passes_us(machine, bytes) + 2 * others * bytes * per_byte_us +
           2 * pes * bytes * local_us;
  }
  if (variant == "one_shot_read") {
    return 2 * barrier_us(machine) + machine.number("load_remote_us") + others * bytes * read_us;
  }
  const double share = others / pes * bytes;
  if (variant == "two_shot") {
    return 2 * barrier_us(machine) + machine.number("load_remote_us") +
           machine.number("release_us") + share * (read_us + per_byte_us);
  }
  return 2 * barrier_us(machine) +
         2 * others * (2 * machine.number("release_us") + machine.number("flag_us")) +
         2 * share * per_byte_us + 3 * share * local_pass_us(machine);
}

// The variant that `auto` means. Across nodes it is one whose traffic between nodes does not grow
// with their number: in two levels where PEs fill the nodes, else the ring. On the rails halving
// and doubling sends what the ring sends, in fewer steps, where the nodes are a power of two.
inline std::string choose_variant(const Machine& machine, const std::string& algorithm, int pes,
                                  double bytes) {
  const bool one_node = pes <= machine.gpus_per_node;
  if (algorithm == "all_reduce") {
    const int nodes = pes / machine.gpus_per_node;
    if (!one_node && pes % machine.gpus_per_node != 0) return "ring";
    if (!one_node) return (nodes & (nodes - 1)) == 0 ? "hierarchical_hd" : "hierarchical";
    std::string best = "one_shot";
    for (const std::string variant : {"one_shot_read", "two_shot", "ring"}) {
      if (all_reduce_us(machine, variant, pes, bytes) < all_reduce_us(machine, best, pes, bytes))
        best = variant;
    }
    return best;
  }
  if (algorithm == "broadcast") {
    // The root's port carries P-1 messages, or one and then everybody's carries one more.
    const double per_byte_us = 1e-3 / machine.number("port_gbps");
    const double direct = (pes - 1) * bytes * per_byte_us;
    const double two_shot = barrier_us(machine) + 2.0 * (pes - 1) / pes * bytes * per_byte_us;
    return two_shot < direct ? "two_shot" : "direct";
  }
  const bool in_levels = !one_node && pes % machine.gpus_per_node == 0;
  if (algorithm == "all_to_all") return in_levels ? "two_hop" : "direct";
  return one_node ? "direct" : in_levels ? "hierarchical" : "ring";
}

}  // namespace sym::models
