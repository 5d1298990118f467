// NCCL's own model of itself: what it expects of each of its algorithms and protocols on a machine,
// and which it takes. A closed form of its constants (models/nccl/tuner.json, with their places in
// its source); the simulator runs our variants with them: see nccl_flavour().
//
// Modelled for nodes of up to 8 GPUs that all reach each other over NVLink switches. Throws
// std::invalid_argument for other machines, with what is missing.
#pragma once

#include <string>
#include <vector>

#include "models/machine.hpp"

namespace sym::models {

// One collective of `bytes` (nccl-tests' meaning) on `pes` GPUs, node by node.
struct NcclCall {
  std::string collective;  // all_reduce, all_gather, reduce_scatter or all_to_all
  int pes = 0;
  double bytes = 0;
};

// One algorithm with one protocol, as NCCL sees it.
struct NcclChoice {
  std::string algorithm;  // ring, tree, nvls or nvls_tree; p2p of all_to_all
  std::string protocol;   // LL, LL128 or Simple
  int channels = 0;       // that its search finds
  double base_us = 0;     // once
  double hop_us = 0;      // of each step inside a node, and of each between nodes: ring only
  double net_hop_us = 0;
  double latency_us = 0;  // base and all steps
  double busbw_gbps = 0;  // what a port or the NICs of a node carry, at most
  double algbw_gbps = 0;  // bytes over time, at this size
  double us = 0;          // what NCCL expects: latency_us and bytes / algbw_gbps
  // Not part of what NCCL expects: its pipelines start with so many bytes in each stage but the
  // last, so that the last has nothing to do for as long as they take.
  double fill_us = 0;
  // Neither part of it: a step of a ring between nodes takes its hop, but no less than the requests
  // for all its messages at one NIC, which NCCL counts as one. 0 elsewhere.
  double requests_us = 0;

  std::string name() const { return algorithm + "/" + protocol; }
};

// All that NCCL may take, whatever they cost.
std::vector<NcclChoice> nccl_choices(const Machine& machine, const NcclCall& call);

// The one of least `us`, as NCCL takes it.
// `only` is empty, or ALGORITHM or ALGORITHM/PROTOCOL (NCCL_ALGO and NCCL_PROTO).
NcclChoice nccl_choice(const Machine& machine, const NcclCall& call, const std::string& only = "");

// Our variant of the form that NCCL's has. Where our levels are not trees it is the nearest:
// two_shot or hierarchical_ring for tree.
std::string nccl_variant(const NcclChoice& choice, const std::string& collective, int nodes);

// `machine` with NCCL's latencies and rates for that choice in place of its own: what a variant of
// that form takes there is what it takes in NCCL. Steps of a ring cost their latency one by one;
// those of the other algorithms, whose number is not that of our variants, come once, at the start.
// Barriers are free: NCCL has credits instead. A NIC slower than NCCL believes stays as slow.
Machine nccl_flavour(const Machine& machine, const NcclChoice& choice, const NcclCall& call);

}  // namespace sym::models
