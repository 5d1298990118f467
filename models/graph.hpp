// Graph: the wiring of one node as vertices and links, and the ways through it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/quantity.hpp"

namespace sym::models {

// nvswitch: all NVSwitches of a node as one (every GPU's lanes spread over all of them). bridge: a
// PCIe host bridge. numa: what one CPU socket or NUMA node joins. smp: what joins those.
enum class VertexKind { gpu, nic, nvswitch, pcie_switch, bridge, numa, smp };
enum class LinkKind { nvlink, xgmi, pcie, socket };

// What links of one sort have in common. Rates are of one lane and one direction.
struct LinkType {
  std::string name;
  LinkKind kind = LinkKind::pcie;
  Quantity gbps;                      // from a link's first end to its second
  std::optional<Quantity> gbps_back;  // where the other direction differs
  Quantity latency_us;                // beyond what flag_us and nic_latency_us hold already
};

// The GPUs among the vertices are PEs in this order; NICs are numbered likewise.
struct Graph {
  struct Vertex {
    std::string name;
    VertexKind kind = VertexKind::gpu;
    bool operator==(const Vertex&) const = default;
  };
  struct Link {
    int a = 0;
    int b = 0;
    int type = 0;   // index into types
    int lanes = 1;  // as one link of so many times the rate
    bool operator==(const Link&) const = default;
  };
  std::vector<Vertex> vertices;
  std::vector<LinkType> types;
  std::vector<Link> links;

  bool empty() const { return vertices.empty(); }
  std::vector<int> all(VertexKind kind) const;
  const LinkType& type(const Link& link) const {
    return types[static_cast<std::size_t>(link.type)];
  }
};

// A link in one direction: 2 * link from its first end to its second, 2 * link + 1 back.
using Hop = int;
using Path = std::vector<Hop>;

double hop_gbps(const Graph& graph, Hop hop);
double hop_latency_us(const Graph& graph, Hop hop);

// The way of traffic between two vertices, or nothing. NVLink and xGMI before PCIe, as peer access
// takes it; then the fewest hops, then the first links. A GPU passes on nothing but xGMI traffic, a
// NIC nothing.
std::optional<Path> path_between(const Graph& graph, int from, int to);
// ... to each vertex at once, by its number.
std::vector<std::optional<Path>> paths_from(const Graph& graph, int from);

// For each GPU the nearest NIC by the number of hops, or -1; among equally near ones the least used
// so far, as NCCL spreads GPUs over NICs.
std::vector<int> nearest_nics(const Graph& graph);

// What is wrong with the wiring, as one sentence, or "": ends that do not exist, a name used twice,
// PCIe links in a cycle, GPUs that no way joins.
std::string wiring_fault(const Graph& graph);

const std::vector<std::string>& vertex_kind_names();  // in the order of VertexKind
const std::vector<std::string>& link_kind_names();    // in the order of LinkKind

}  // namespace sym::models
