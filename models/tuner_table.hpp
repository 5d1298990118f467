// The constants of models/nccl/tuner.json, and what NCCL's search would find on a machine. Not for
// other folders.
#pragma once

#include <string>

#include "models/json_reader.hpp"
#include "models/machine.hpp"

namespace sym::models::detail {

JsonAt nccl_table();

// A machine as NCCL's search sees it, for one number of PEs.
struct NcclSystem {
  int generation = 0;  // a key of "generations"
  int pes = 0;
  int nodes = 1;
  int per_node = 0;
  double nvlink_gbps = 0;   // of a GPU, all lanes
  int nics = 0;             // that a node uses
  double nic_gbps = 0;      // line rate
  double overhead_us = 0;   // of a request to a NIC: NCCL's proxy
  double split_bytes = 0;   // messages above are two requests; 0: none is
  double channel_gbps = 0;  // of one channel, wire bytes; 0: not known
  double chunk_bytes = 0;   // of a send to another node
  bool multicast = false;   // the switches have it

  bool amd() const { return overhead_us >= 2; }
  // Of arrays by 1, 2 and more nodes.
  std::size_t by_nodes() const { return nodes <= 2 ? static_cast<std::size_t>(nodes) - 1 : 2; }
  JsonAt constants() const;
};
NcclSystem nccl_system(const Machine& machine, int pes);

// Channels, and the rate of each inside a node and between nodes.
struct NcclGraph {
  int channels = 0;
  double intra_gbps = 0;
  double inter_gbps = 0;
};
NcclGraph nccl_graph(const NcclSystem& system, const std::string& algorithm);

}  // namespace sym::models::detail
