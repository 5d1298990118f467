// What joins the nodes, for people.
#include <array>
#include <cstdio>

#include "models/machine_detail.hpp"

namespace sym::models::detail {
namespace {

std::string text_of(double value) {
  std::array<char, 32> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%.6g", value);
  return buffer.data();
}

std::string leaves_text(const Machine& machine) {
  const FabricShape& shape = machine.shape;
  const bool rail = machine.fabric == "rail";
  const int nodes = shape.nodes_per_leaf > 0 ? shape.nodes_per_leaf : machine.nodes;
  const int nics = rail ? nodes : nodes * machine.nics_per_node;
  std::string text = rail ? "one leaf switch for NIC i of " : "one leaf switch for all NICs of ";
  text += shape.nodes_per_leaf > 0 ? "each " + std::to_string(nodes) + " nodes" : "all nodes";
  if (!shape.spine) return text + "; nothing joins the leaves";
  const double over = machine.number_or("leaf_oversubscription", 1);
  text += "; a leaf's uplinks " + text_of(nics * machine.number("nic_gbps") / over) +
          " GB/s each way (" + std::to_string(nics) + " x nic_gbps / " + text_of(over) + ")";
  if (shape.leaves_per_pod > 0) {
    const double both = over * machine.number_or("pod_oversubscription", 1);
    text += "; a pod of " + std::to_string(shape.leaves_per_pod) + " leaves has " +
            text_of(shape.leaves_per_pod * nics * machine.number("nic_gbps") / both) +
            " GB/s to the core";
  }
  return text;
}

std::string shape_text(const Machine& machine) {
  const FabricShape& shape = machine.shape;
  if (machine.fabric == "rail" || machine.fabric == "fat-tree") return leaves_text(machine);
  if (machine.fabric == "dragonfly") {
    const int group = shape.nodes_per_router * shape.routers_per_group;
    return std::to_string((machine.nodes - 1) / group + 1) + " groups of " +
           std::to_string(shape.routers_per_group) + " routers of " +
           std::to_string(shape.nodes_per_router) + " nodes, minimal ways";
  }
  if (machine.fabric == "routes") {
    return std::to_string(shape.links.size()) + " links and " +
           std::to_string(shape.routes.size()) + " routes as listed (see the JSON form)";
  }
  std::string text;
  for (const FabricShape::Dimension& one : shape.dimensions) {
    text += (text.empty() ? "" : ", then ") + one.form + " of " + std::to_string(one.size) + " (" +
            text_of(one.gbps.value) + " GB/s each way, " + text_of(one.latency_us.value) +
            " us a link; " + one.gbps.source + ")";
  }
  return text;
}

}  // namespace

std::string fabric_text(const Machine& machine) {
  const std::string shape = machine.fabric == "none" ? "" : shape_text(machine);
  return "fabric: " + machine.fabric + (shape.empty() ? "" : ": " + shape) + "\n";
}

}  // namespace sym::models::detail
