// Machine: what the simulator knows of a cluster, as values. Every number carries its unit in its
// key, its source and whether it was measured or assumed.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/calibration.hpp"
#include "models/fabric.hpp"
#include "models/graph.hpp"
#include "models/quantity.hpp"

namespace sym::models {

// How two GPUs of one node reach each other, and the GPUs' NICs. Order: fastest first.
enum class LinkClass { self, nvlink, pix, pxb, phb, node, sys };

// One node's wiring, and how many of them the fabric joins.
struct Machine {
  std::string name;
  std::string description;
  int nodes = 1;
  int gpus_per_node = 0;
  // gpus_per_node squared, row-major; empty means that every pair is `nvlink` with all lanes.
  std::vector<LinkClass> pair_class;
  std::vector<int> pair_lanes;       // NVLink lanes of each pair (0 where not nvlink), or empty
  std::vector<LinkClass> nic_class;  // gpus_per_node rows of nics_per_node, or empty: not known
  // Vertex by vertex, in place of the three above; empty where they say it. node_graph() has both.
  Graph graph;
  // For each GPU of a node the index of its nearest NIC, or -1; and how many NICs a node has.
  std::vector<int> nic_of_gpu;
  int nics_per_node = 0;
  std::string fabric = "none";  // none | rail | fat-tree | dragonfly | grid | routes
  FabricShape shape;
  std::map<std::string, Quantity> numbers;  // keys: see number_keys()
  std::optional<Calibration> calibration;   // of a machine that `sym calibrate` has written

  int pes() const { return nodes * gpus_per_node; }
  // The number under `key`; throws std::invalid_argument naming machine and key if it is missing.
  double number(const std::string& key) const;
  // ... or `otherwise` for a key that the machine need not have.
  double number_or(const std::string& key, double otherwise) const {
    const auto found = numbers.find(key);
    return found == numbers.end() ? otherwise : found->second.value;
  }
};

// Every key that a machine file may hold under "numbers", with its meaning (printed by `sym
// machine`).
const std::map<std::string, std::string>& number_keys();

// The wiring of one node, resolved: machine.graph, or what its pairs and NICs come to. Every number
// is one of the machine's, or is marked as assumed and says from what.
Graph node_graph(const Machine& machine);

// A named machine (models/machines/NAME.json), a JSON file, the text of `nvidia-smi topo -m`, an
// XML file of NCCL or SimGrid, or an ASTRA-sim network file; "*N" after the name or file means N
// nodes. Throws std::invalid_argument with one sentence that says what, where (file:line) and what
// would be accepted.
Machine load_machine(const std::string& name_or_file);
std::vector<std::string> machine_names();

Machine parse_machine_json(const std::string& text, const std::string& origin);
Machine parse_topology_text(const std::string& text, const std::string& origin);
std::string to_json(const Machine& machine);
// The resolved model for people: every number with unit, source and measured/assumed.
std::string to_text(const Machine& machine);

}  // namespace sym::models
