// Platform: the links of a machine as a table, and the way from one PE to another through it.
#pragma once

#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "models/machine.hpp"
#include "sim/disturbance.hpp"
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
  // Each PE on the GPU that `placement` says (see parse_placement); empty: the first `pes` GPUs of
  // the machine, node by node. Throws UsageError if it has fewer.
  Platform(const models::Machine& machine, int pes, const Disturbance& disturbance = {},
           std::vector<int> placement = {});

  const std::vector<double>& link_bytes_per_s() const { return links_; }
  std::string link_name(int link) const;
  // What people call such a link: NIC, fabric or port.
  const char* link_kind(int link) const;
  // Between distinct PEs. Throws UsageError if the machine does not join them.
  Route route(int from, int to) const;
  // Of multicast: what a store of `pe` to all members crosses, its port and those of the members,
  // each once; or (`loads`) what a load crosses that the switch combines for it, the other way
  // round. Throws UsageError unless all are in one node of a machine that has multicast.
  Route multicast(int pe, const std::vector<int>& members, bool loads) const;
  // Does traffic between them pass NICs? (All that route().nic says, without the links.)
  bool by_nic(int from, int to) const { return place(from).node != place(to).node; }
  // route().latency_s, likewise.
  double latency_s(int from, int to) const;

 private:
  struct Place {
    int node, gpu;
  };
  Place place(int pe) const {
    const int gpu = placement_.empty() ? pe : placement_[static_cast<std::size_t>(pe)];
    return {gpu / per_node_, gpu % per_node_};
  }
  Route undisturbed_route(int from, int to) const;
  int add_link(double bytes_per_s, const std::string& name);
  void disturb(const Disturbance& disturbance);
  int nic_of(int gpu) const;
  bool passes_nics(Place from, Place to) const {
    return from.node != to.node && fabric_ != nullptr && nic_of(from.gpu) >= 0 &&
           nic_of(to.gpu) >= 0;
  }
  void append(Route& route, int node, const NodeWays::Way& way) const;
  int gpu_beside(int nic) const;

  const models::Machine machine_;
  int per_node_;
  std::vector<int> placement_;
  int nodes_;
  NodeWays node_;              // its links, once for each node, come first
  std::vector<double> links_;  // then those of the fabric
  std::vector<std::string> fabric_names_;
  std::unique_ptr<Fabric> fabric_;  // null for one node
  // Links that disturbances add to the ways that they slow: of (node, NIC), out and in, and of
  // (from, to).
  std::map<std::pair<int, int>, std::pair<int, int>> slow_nics_;
  std::map<std::pair<int, int>, int> slow_ways_;
};

}  // namespace sym::sim
