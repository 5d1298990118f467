// node_graph: the wiring of one node of a machine that states pairs and NICs, as a graph.
//
// Classes of `nvidia-smi topo -m` are heights in the PCIe tree at which two devices meet: below one
// switch (pix), below several (pxb), at a host bridge (phb), inside a NUMA node (node), beyond
// (sys). So the tree can be read off them: devices that meet at a height or below are under one
// vertex of that height. A vertex that joins nothing new is left out. The way up to a vertex of a
// class runs at that class's rate, and everything below shares it.
#include <algorithm>
#include <array>
#include <numeric>

#include "models/machine.hpp"
#include "models/machine_detail.hpp"

namespace sym::models {
namespace {

constexpr int hopper_lanes = 18;  // the most that one GPU has; more in a row means a switch

class Resolver {
 public:
  explicit Resolver(const Machine& machine) : machine_(machine) {}

  Graph resolve() {
    for (int gpu = 0; gpu < machine_.gpus_per_node; ++gpu)
      add_vertex("gpu" + std::to_string(gpu), VertexKind::gpu);
    for (int nic = 0; nic < machine_.nics_per_node; ++nic)
      add_vertex("nic" + std::to_string(nic), VertexKind::nic);
    join_nvlinks();
    if (machine_.nic_class.empty()) join_nearest_nics();
    if (!machine_.pair_class.empty()) join_pcie();
    return std::move(graph_);
  }

 private:
  int devices() const { return machine_.gpus_per_node + machine_.nics_per_node; }

  int add_vertex(const std::string& name, VertexKind kind) {
    graph_.vertices.push_back({name, kind});
    return static_cast<int>(graph_.vertices.size()) - 1;
  }

  // One lane of the type is `share` of the number.
  int add_type(const std::string& key, LinkKind kind, double share = 1) {
    LinkType type{key, kind, machine_.numbers.at(key), {}, {}};
    if (share != 1) {
      type.gbps.value *= share;
      type.gbps.source = "assumed: " + key + " over its lanes";
      type.gbps.measured = false;
    }
    const auto same = [&](const LinkType& t) { return t.name == type.name; };
    const auto found = std::find_if(graph_.types.begin(), graph_.types.end(), same);
    if (found != graph_.types.end()) return static_cast<int>(found - graph_.types.begin());
    graph_.types.push_back(type);
    return static_cast<int>(graph_.types.size()) - 1;
  }

  // Through a switch every pair has the whole port; without one the lanes of a row are the port's.
  void join_nvlinks() {
    const int gpus = machine_.gpus_per_node;
    int row_sum = 0;
    int most = 0;
    bool any = false;
    for (int a = 0; a < gpus; ++a) {
      int sum = 0;
      for (int b = 0; b < gpus; ++b) {
        any = any || detail::pair_class_of(machine_, a, b) == LinkClass::nvlink;
        sum += detail::pair_lanes_of(machine_, a, b);
        most = std::max(most, detail::pair_lanes_of(machine_, a, b));
      }
      row_sum = std::max(row_sum, sum);
    }
    if (!any) return;
    if (machine_.pair_lanes.empty() || row_sum > hopper_lanes) {
      join_by_switch(std::max(most, 1));
      return;
    }
    const int type = add_type("port_gbps", LinkKind::nvlink, 1.0 / row_sum);
    for (int a = 0; a < gpus; ++a) {
      for (int b = a + 1; b < gpus; ++b) {
        const int lanes = detail::pair_lanes_of(machine_, a, b);
        if (lanes > 0) graph_.links.push_back({a, b, type, lanes});
      }
    }
  }

  void join_by_switch(int port_lanes) {
    const int gpus = machine_.gpus_per_node;
    const int type = add_type("port_gbps", LinkKind::nvlink, 1.0 / port_lanes);
    const int hub = add_vertex("nvswitch", VertexKind::nvswitch);
    for (int a = 0; a < gpus; ++a) {
      int lanes = machine_.pair_lanes.empty() ? 1 : 0;
      for (int b = 0; b < gpus; ++b) lanes = std::max(lanes, detail::pair_lanes_of(machine_, a, b));
      if (lanes > 0) graph_.links.push_back({a, hub, type, lanes});
    }
  }

  // Where only the nearest NIC of each GPU is known.
  void join_nearest_nics() {
    for (int gpu = 0; gpu < machine_.gpus_per_node; ++gpu) {
      const auto at = static_cast<std::size_t>(gpu);
      const int nic = at < machine_.nic_of_gpu.size() ? machine_.nic_of_gpu[at] : -1;
      if (nic < 0) continue;
      const bool stated = machine_.numbers.contains("pcie_gbps");
      const int type = add_type(stated ? "pcie_gbps" : "nic_gbps", LinkKind::pcie);
      if (!stated) {
        graph_.types[static_cast<std::size_t>(type)].gbps.source =
            "assumed: as nic_gbps, the machine states no rate between GPU and NIC";
        graph_.types[static_cast<std::size_t>(type)].gbps.measured = false;
      }
      graph_.links.push_back({gpu, machine_.gpus_per_node + nic, type, 1});
    }
  }

  // Of two devices, where it is known and PCIe's.
  LinkClass pcie_class(int a, int b) const {
    const int gpus = machine_.gpus_per_node;
    if (a > b) std::swap(a, b);
    if (b < gpus) {
      const LinkClass c = detail::pair_class_of(machine_, a, b);
      return c == LinkClass::nvlink ? LinkClass::sys : c;
    }
    if (a >= gpus || machine_.nic_class.empty()) return LinkClass::sys;
    return machine_
        .nic_class[static_cast<std::size_t>(a) * static_cast<std::size_t>(machine_.nics_per_node) +
                   static_cast<std::size_t>(b - gpus)];
  }

  // Devices and vertices at the top of what has been joined so far.
  struct Branch {
    int vertex;
    std::vector<int> devices;
  };

  bool meet(const Branch& a, const Branch& b, LinkClass height) const {
    for (const int i : a.devices) {
      for (const int j : b.devices) {
        if (pcie_class(i, j) <= height) return true;
      }
    }
    return false;
  }

  // Joins what meets at `height` and not below. Branches that meet nobody pass through.
  std::vector<Branch> join_at(std::vector<Branch> branches, LinkClass height, VertexKind kind) {
    std::vector<Branch> joined;
    while (!branches.empty()) {
      std::vector<Branch> group = {branches.front()};
      branches.erase(branches.begin());
      for (std::size_t i = 0; i < group.size(); ++i) {  // grows while it is walked
        for (auto other = branches.begin(); other != branches.end();) {
          if (!meet(group[i], *other, height)) {
            ++other;
            continue;
          }
          group.push_back(*other);
          other = branches.erase(other);
        }
      }
      joined.push_back(group.size() == 1 ? group[0] : under_one(group, height, kind));
    }
    return joined;
  }

  Branch under_one(const std::vector<Branch>& group, LinkClass height, VertexKind kind) {
    const std::string name = vertex_kind_names()[static_cast<std::size_t>(kind)] +
                             std::to_string(hubs_[static_cast<std::size_t>(kind)]++);
    const bool between = kind == VertexKind::smp;
    const int type = add_type(std::string(detail::link_class_name(height)) + "_gbps",
                              between ? LinkKind::socket : LinkKind::pcie);
    Branch all{add_vertex(name, kind), {}};
    for (const Branch& branch : group) {
      graph_.links.push_back({branch.vertex, all.vertex, type, 1});
      all.devices.insert(all.devices.end(), branch.devices.begin(), branch.devices.end());
    }
    return all;
  }

  void join_pcie() {
    std::vector<Branch> branches;
    const int count = machine_.nic_class.empty() ? machine_.gpus_per_node : devices();
    for (int device = 0; device < count; ++device) branches.push_back({device, {device}});
    branches = join_at(std::move(branches), LinkClass::pix, VertexKind::pcie_switch);
    branches = join_at(std::move(branches), LinkClass::pxb, VertexKind::pcie_switch);
    branches = join_at(std::move(branches), LinkClass::phb, VertexKind::bridge);
    branches = join_at(std::move(branches), LinkClass::node, VertexKind::numa);
    // What NVLink alone joins needs no way through the processors, and nothing states its rate.
    if (branches.size() > 1 && machine_.numbers.contains("sys_gbps"))
      under_one(branches, LinkClass::sys, VertexKind::smp);
  }

  const Machine& machine_;
  Graph graph_;
  std::array<int, 7> hubs_{};  // by VertexKind: how many have a name
};

}  // namespace

Graph node_graph(const Machine& machine) {
  return machine.graph.empty() ? Resolver(machine).resolve() : machine.graph;
}

LinkClass detail::class_of(const Graph& graph, const Path& path) {
  bool fast = true;
  int switches = 0;
  LinkClass highest = LinkClass::pix;
  for (const Hop hop : path) {
    const Graph::Link& link = graph.links[static_cast<std::size_t>(hop / 2)];
    const LinkKind kind = graph.type(link).kind;
    fast = fast && (kind == LinkKind::nvlink || kind == LinkKind::xgmi);
    const auto to = static_cast<std::size_t>(hop % 2 == 0 ? link.b : link.a);
    switch (graph.vertices[to].kind) {
      case VertexKind::pcie_switch:
        highest = std::max(highest, ++switches > 1 ? LinkClass::pxb : LinkClass::pix);
        break;
      case VertexKind::bridge:
        highest = std::max(highest, LinkClass::phb);
        break;
      case VertexKind::numa:
        highest = std::max(highest, LinkClass::node);
        break;
      case VertexKind::smp:
        highest = LinkClass::sys;
        break;
      default:
        break;
    }
  }
  return fast ? LinkClass::nvlink : highest;
}

void detail::count_devices(Machine& machine) {
  machine.gpus_per_node = static_cast<int>(machine.graph.all(VertexKind::gpu).size());
  machine.nics_per_node = static_cast<int>(machine.graph.all(VertexKind::nic).size());
  machine.nic_of_gpu = nearest_nics(machine.graph);
}

void detail::assume_fabric_numbers(Machine& machine) {
  if (machine.fabric == "none" || machine.fabric == "routes") return;
  if (machine.fabric == "grid") return;  // its dimensions say all
  const auto assume = [&](const char* key, double value, const char* source) {
    machine.numbers.try_emplace(key, Quantity{value, std::string("assumed: ") + source, false});
  };
  assume("fabric_hop_us", 0.3, "a switch and its cable, from memory; the file states none");
  if (machine.fabric == "dragonfly") return;
  assume("leaf_oversubscription", 1, "none, as the file states none");
  if (machine.shape.leaves_per_pod > 0)
    assume("pod_oversubscription", 1, "none, as the file states none");
}

}  // namespace sym::models
