// Parts of a machine's JSON form that have files of their own. Not for other folders.
#pragma once

#include <nlohmann/json.hpp>

#include "models/json_reader.hpp"
#include "models/machine.hpp"

namespace sym::models::detail {

using OrderedJson = nlohmann::ordered_json;

// A word of `accepted`; anything else is refused with the nearest.
std::string read_choice(const JsonAt& at, const std::vector<std::string>& accepted);
int read_whole(const JsonAt& at, int low, int high);

// {"value", "source", "measured"}. Latencies may be 0, rates not.
enum class Zero { refused, accepted };
Quantity read_quantity(const JsonAt& at, Zero zero = Zero::refused);
OrderedJson quantity_json(const Quantity& quantity);

// gpus_per_node, pair_class, pair_lanes, nics_per_node, nic_of_gpu and nic_class, or graph.
void read_wiring(const JsonAt& root, Machine& machine);
void write_wiring(const Machine& machine, OrderedJson& root);

// "graph": {"vertices": [[name, kind], ...], "types": [{"name", "kind", "gbps"[, "gbps_back"]
// [, "latency_us"]}, ...], "links": [[vertex, vertex, type[, lanes]], ...]}
Graph read_graph(const JsonAt& at);
OrderedJson graph_json(const Graph& graph);

// "fabric": the name alone, or {"kind": name, ...} with the members of FabricShape that it uses.
// Sets machine.fabric and machine.shape; what the rest of the machine must have for it is checked.
void read_fabric(const JsonAt& root, Machine& machine);
OrderedJson fabric_json(const Machine& machine);

}  // namespace sym::models::detail
