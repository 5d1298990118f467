// Platform: the links of a machine as a table, and the way from one PE to another through it.
#pragma once

#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "models/machine.hpp"
#include "sim/fabric.hpp"
#include "sim/node_ways.hpp"

namespace sym::sim {

struct Route {
  std::vector<int> links;  // indices into Platform::link_bytes_per_s
  double rate_cap_bytes_per_s = std::numeric_limits<double>::infinity();
  double latency_s = 0;  // one way, beyond flag_us (nic: beyond nic_latency_us)
  bool nic = false;      // through the NICs: posted, not stored
};

class Platform {
 public:
  // The first `pes` GPUs of the machine, node by node. Throws UsageError if it has fewer.
  Platform(const models::Machine& machine, int pes);

  const std::vector<double>& link_bytes_per_s() const { return links_; }
  std::string link_name(int link) const;
  // Between distinct PEs. Throws UsageError if the machine does not join them.
  Route route(int from, int to) const;
  // Does traffic between them pass NICs? (All that route().nic says, without the links.)
  bool by_nic(int from, int to) const { return from / per_node_ != to / per_node_; }
  // route().latency_s, likewise.
  double latency_s(int from, int to) const;

 private:
  struct Place {
    int node, gpu;
  };
  Place place(int pe) const { return {pe / per_node_, pe % per_node_}; }
  int nic_of(int gpu) const;
  bool passes_nics(Place from, Place to) const {
    return from.node != to.node && fabric_ != nullptr && nic_of(from.gpu) >= 0 &&
           nic_of(to.gpu) >= 0;
  }
  void append(Route& route, int node, const NodeWays::Way& way) const;
  int gpu_beside(int nic) const;

  const models::Machine machine_;
  int per_node_;
  int nodes_;
  NodeWays node_;              // its links, once for each node, come first
  std::vector<double> links_;  // then those of the fabric
  std::vector<std::string> fabric_names_;
  std::unique_ptr<Fabric> fabric_;  // null for one node
};

}  // namespace sym::sim
