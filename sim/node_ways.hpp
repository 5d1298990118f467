// NodeWays: which links of a node its traffic crosses, the same for every node of a machine.
#pragma once

#include <string>
#include <vector>

#include "models/machine.hpp"

namespace sym::sim {

// A node's links: each wire of its graph in each direction, each GPU's port out and in, and each
// NIC out and in. A link that no traffic can fill before another one that all its traffic crosses
// is left out: rates stay the same to the last digit, and flows cross fewer links.
class NodeWays {
 public:
  struct Way {
    std::vector<int> links;  // indices into link_bytes_per_s()
    double latency_s = 0;    // beyond what flag_us and nic_latency_us hold
  };

  // The first `gpus` GPUs of the node, and its NICs where nodes are joined. Throws UsageError if
  // two of the GPUs are not joined. `machine` need not outlive the constructor.
  NodeWays(const models::Machine& machine, int gpus, bool with_nics);

  const std::vector<double>& link_bytes_per_s() const { return rates_; }
  const std::string& link_name(int link) const { return names_[static_cast<std::size_t>(link)]; }
  const Way& between(int from_gpu, int to_gpu) const;
  const Way& to_nic(int gpu) const;  // the GPU's nearest
  const Way& from_nic(int gpu) const;
  // Multicast: from the GPU to the switches, and from there to it. Only where the machine has it.
  const Way& to_switch(int gpu) const;
  const Way& from_switch(int gpu) const;
  bool has_multicast() const { return has_multicast_; }

 private:
  struct Resource {
    double bytes_per_s;
    std::string name;
    std::vector<int> ways;  // that cross it, ascending
  };

  void add_resources(const models::Machine& machine, const models::Graph& graph, bool with_nics);
  int way_of(int from, int to) const { return from * gpus_ + to; }
  void join_gpus(const models::Machine& machine, const models::Graph& graph);
  void join_nics(const models::Machine& machine, const models::Graph& graph);
  void join_switch(const models::Graph& graph);
  void add_way(int way, const std::vector<int>& resources, double latency_s);
  void keep_what_binds();

  int gpus_;
  bool has_multicast_ = false;
  std::vector<Resource> resources_;
  std::vector<Way> ways_;
  std::vector<double> rates_;
  std::vector<std::string> names_;
};

}  // namespace sym::sim
