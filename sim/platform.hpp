// Platform: the links of a machine as a table, and the way from one PE to another through it.
#pragma once

#include <limits>
#include <vector>

#include "models/machine.hpp"

namespace sym::sim {

struct Route {
  std::vector<int> links;  // indices into Platform::link_bytes_per_s
  double rate_cap_bytes_per_s = std::numeric_limits<double>::infinity();
  bool nic = false;  // through the NICs: posted, not stored
};

class Platform {
 public:
  // The first `pes` GPUs of the machine, node by node. Throws UsageError if it has fewer.
  Platform(const models::Machine& machine, int pes);

  const std::vector<double>& link_bytes_per_s() const { return links_; }
  // Between distinct PEs. Throws UsageError if the machine does not join them.
  Route route(int from, int to) const;

 private:
  int add_link(double gbps);
  const models::Machine machine_;
  int per_node_;
  int most_lanes_ = 0;
  std::vector<double> links_;
  std::vector<int> out_, in_;          // by PE: its port into the node's domain
  std::vector<int> nic_out_, nic_in_;  // by node * nics_per_node + NIC
  std::vector<int> socket_;            // by node: what pairs on different sockets share
};

}  // namespace sym::sim
