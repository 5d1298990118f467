// Lower bounds and nccl-tests' factors of the collectives, as plain functions of a Machine.
//
// A bound holds for every algorithm without reduction inside the network, unless `multicast` says
// that the switches of a node reduce and copy: then all_reduce moves but B into and out of a port.
// It is the maximum of three terms; none of them assumes a particular algorithm:
// - latency: one kernel start, and, if anything moves, one flag on its way (between nodes: one
//   request through a NIC);
// - port: bytes that must enter or leave one PE, over all that enters or leaves it (the cut around
// one
//   PE). Bytes per PE are the closed forms of Chan, Heimlich, Purkayastha, van de Geijn (2007) and
//   of Patarasuk, Yuan (2009): a sum over P needs P-1 messages to form and P-1 to spread, so
//   all-reduce moves 2(P-1)B in all, the busiest port at least 2(P-1)/P B;
// - nic: the same count for a node in place of a PE (the cut around one node).
// Bytes are what nccl-tests calls size: all_gather the gathered output, reduce_scatter the whole
// input, all_reduce and broadcast the buffer. Rates are the fastest known mechanism (SM copy or
// copy engine): the copy engine beats SM copies, so a bound from SM copies alone would not be one.
#pragma once

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/text.hpp"
#include "models/machine.hpp"

namespace sym::models {

struct Bound {
  double us = 0;
  std::string bound_by;  // latency | port | nic; "launch" where nothing moves: one PE, or no bytes
};

// busbw = algbw * bus_factor: nccl-tests, doc/PERFORMANCE.md. Requires pes >= 1.
inline double bus_factor(const std::string& algorithm, int pes) {
  if (pes < 1) {
    throw std::invalid_argument("bus_factor: " + std::to_string(pes) +
                                " PEs; 1 or more are accepted");
  }
  const double others = static_cast<double>(pes - 1) / pes;
  if (algorithm == "all_reduce") return 2 * others;
  if (algorithm == "all_gather" || algorithm == "reduce_scatter" || algorithm == "all_to_all")
    return others;
  if (algorithm == "broadcast" || algorithm == "reduce" || algorithm == "send_recv") return 1;
  throw std::invalid_argument(
      "bus_factor: algorithm '" + algorithm + "' is unknown; the nearest name is '" +
      nearest_name(algorithm, {"all_reduce", "all_gather", "reduce_scatter", "all_to_all",
                               "broadcast", "reduce", "send_recv"}) +
      "'");
}

namespace detail {

// How `pes` PEs fill the machine, node after node.
struct Spread {
  int nodes = 1;
  int smallest_node = 0;  // PEs in the last, perhaps partly filled node
};

inline Spread spread_of(const Machine& machine, int pes) {
  if (pes < 1 || pes > machine.pes()) {
    throw std::invalid_argument("machine '" + machine.name + "': a bound for " +
                                std::to_string(pes) + " PEs; 1 to " +
                                std::to_string(machine.pes()) + " are accepted");
  }
  const int nodes = (pes - 1) / machine.gpus_per_node + 1;
  return {nodes, pes - (nodes - 1) * machine.gpus_per_node};
}

inline double or_zero(const Machine& machine, const std::string& key) {
  const auto found = machine.numbers.find(key);
  return found == machine.numbers.end() ? 0 : found->second.value;
}

// GB/s into a PE from its own node, by the fastest mechanism. One-way rates are never the lower
// ones.
inline double port_rate(const Machine& machine, bool both_ways) {
  const double both = std::max(machine.number("port_gbps"), machine.number("copy_engine_gbps"));
  if (both_ways) return both;
  return std::max(
      {both, machine.number("port_oneway_gbps"), or_zero(machine, "copy_engine_oneway_gbps")});
}

// NICs that GPU-initiated transfers of one node use: the distinct nearest ones.
inline int nics_in_use(const Machine& machine) {
  std::set<int> nics;
  for (const int nic : machine.nic_of_gpu) {
    if (nic >= 0) nics.insert(nic);
  }
  return static_cast<int>(nics.size());
}

// 1 GB/s moves 1000 bytes in a microsecond.
inline double transfer_us(double bytes, double gbps) { return bytes / (gbps * 1e3); }

// The maximum of the three terms, for bytes through the busiest PE and through the busiest node.
inline Bound bound_of(const Machine& machine, int pes, double pe_bytes, double node_bytes,
                      bool both_ways) {
  const Spread spread = spread_of(machine, pes);
  const double launch_us = machine.number("launch_us");
  if (pes == 1 || pe_bytes <= 0) return {launch_us, "launch"};
  double latency_us = machine.number("flag_us");
  double rate = port_rate(machine, both_ways);
  double nic_us = 0;
  if (spread.nodes > 1) {
    // Bytes that enter a PE from another node need not pass its port, so the rates add.
    rate += machine.number("nic_gbps");
    latency_us = machine.number("nic_post_us") + machine.number("nic_latency_us");
    const int nics = nics_in_use(machine);
    if (nics == 0) {
      throw std::invalid_argument("machine '" + machine.name + "': no GPU has a NIC, so at most " +
                                  std::to_string(machine.gpus_per_node) + " PEs are accepted");
    }
    nic_us = transfer_us(node_bytes, nics * machine.number("nic_gbps"));
  }
  Bound bound{launch_us + latency_us, "latency"};
  const double port_us = transfer_us(pe_bytes, rate);
  if (port_us > bound.us) bound = {port_us, "port"};
  if (nic_us > bound.us) bound = {nic_us, "nic"};
  return bound;
}

// all_gather and reduce_scatter mirror each other: what the one brings into a PE or a node, the
// other sends out of it as partial sums. The smallest node lacks the most.
inline Bound share_bound(const Machine& machine, int pes, double bytes) {
  const Spread spread = spread_of(machine, pes);
  const double node_bytes = bytes * (pes - spread.smallest_node) / pes;
  return bound_of(machine, pes, bytes * bus_factor("all_gather", pes), node_bytes, true);
}

}  // namespace detail

// 2(P-1)/P B through the busiest port, 2(n-1)/n B through the NICs of the busiest of n nodes. With
// multicast B through each port: a PE learns of every element, and others of every one of its own.
inline Bound all_reduce_bound(const Machine& machine, int pes, double bytes,
                              bool multicast = false) {
  const detail::Spread spread = detail::spread_of(machine, pes);
  const double node_bytes = bytes * bus_factor("all_reduce", spread.nodes);
  const double pe_bytes = multicast ? bytes : bytes * bus_factor("all_reduce", pes);
  return detail::bound_of(machine, pes, pe_bytes, node_bytes, true);
}

// (P-1)/P B into each PE, (P-g)/P B into a node of g PEs.
inline Bound all_gather_bound(const Machine& machine, int pes, double bytes) {
  return detail::share_bound(machine, pes, bytes);
}

// (P-1)/P B out of each PE, (P-g)/P B out of a node of g PEs.
inline Bound reduce_scatter_bound(const Machine& machine, int pes, double bytes) {
  return detail::share_bound(machine, pes, bytes);
}

// (P-1)/P B into each PE; into a full node of g PEs what each of them lacks, g (P-g)/P B, and into
// no other node more.
inline Bound all_to_all_bound(const Machine& machine, int pes, double bytes) {
  const int node = std::min(pes, machine.gpus_per_node);
  const double node_bytes = bytes * node * (pes - node) / pes;
  return detail::bound_of(machine, pes, bytes * bus_factor("all_to_all", pes), node_bytes, true);
}

// B into each PE but the root, B into each node but the root's; no port needs both directions.
inline Bound broadcast_bound(const Machine& machine, int pes, double bytes) {
  return detail::bound_of(machine, pes, bytes, bytes, false);
}

// The functions above by the name of the algorithm. Throws std::invalid_argument for any other
// name.
inline Bound collective_bound(const std::string& algorithm, const Machine& machine, int pes,
                              double bytes, bool multicast = false) {
  if (algorithm == "all_reduce") return all_reduce_bound(machine, pes, bytes, multicast);
  if (algorithm == "all_gather") return all_gather_bound(machine, pes, bytes);
  if (algorithm == "reduce_scatter") return reduce_scatter_bound(machine, pes, bytes);
  if (algorithm == "broadcast") return broadcast_bound(machine, pes, bytes);
  if (algorithm == "all_to_all") return all_to_all_bound(machine, pes, bytes);
  throw std::invalid_argument("collective_bound: algorithm '" + algorithm +
                              "' has no bound; the nearest name is '" +
                              nearest_name(algorithm, {"all_reduce", "all_gather", "reduce_scatter",
                                                       "broadcast", "all_to_all"}) +
                              "'");
}

}  // namespace sym::models
