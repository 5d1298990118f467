// Fabric: the links between nodes, and the ways of messages from NIC to NIC through them. Which
// forms there are and how they route: models/fabric.hpp.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "models/machine.hpp"

namespace sym::sim {

struct NicAt {
  int node = 0;
  int nic = 0;
};

// What a message crosses between two NICs, both excluded.
struct FabricWay {
  std::vector<int> links;
  double latency_s = 0;  // beyond nic_latency_us, which holds the first switch
  double rate_cap_bytes_per_s;
};

class Fabric {
 public:
  // Adds a link of so many bytes a second and returns its number.
  using AddLink = std::function<int(double bytes_per_s, const std::string& name)>;

  virtual ~Fabric() = default;
  // Between NICs of different nodes. Throws UsageError if the fabric does not join them.
  virtual FabricWay way(NicAt from, NicAt to) const = 0;
  // Does NIC i reach only NICs i? Then a message to another one first goes to the GPU beside it.
  virtual bool keeps_to_rails() const { return false; }
};

// Of machine.fabric, which is not "none". The machine must outlive it.
std::unique_ptr<Fabric> make_fabric(const models::Machine& machine, const Fabric::AddLink& add);

}  // namespace sym::sim
