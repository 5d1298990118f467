// What joins the nodes <-> JSON, and what a fabric needs of the machine.
#include <algorithm>
#include <limits>

#include "models/json_parts.hpp"

namespace sym::models::detail {
namespace {

constexpr int most_nodes = std::numeric_limits<int>::max();

void read_dimensions(const JsonAt& at, Machine& machine) {
  long long nodes = 1;
  for (const JsonAt& one : at.elements()) {
    one.only_keys({"form", "size", "gbps", "latency_us"});
    FabricShape::Dimension dimension;
    dimension.form = read_choice(one.member("form"), {"ring", "full", "switch"});
    dimension.size = read_whole(one.member("size"), 1, 1 << 20);
    dimension.gbps = read_quantity(one.member("gbps"));
    dimension.latency_us = read_quantity(one.member("latency_us"), Zero::accepted);
    nodes = std::min<long long>(nodes * dimension.size, most_nodes);
    machine.shape.dimensions.push_back(std::move(dimension));
  }
  if (nodes != machine.nodes) {
    at.refuse("makes " + std::to_string(nodes) + " nodes but the machine has " +
              std::to_string(machine.nodes) + "; sizes whose product is nodes are accepted");
  }
}

void read_fabric_links(const JsonAt& at, FabricShape& shape) {
  for (const JsonAt& one : at.elements()) {
    one.only_keys({"name", "gbps", "latency_us", "per_flow"});
    FabricShape::Link link;
    link.name = one.member("name").text();
    link.gbps = read_quantity(one.member("gbps"));
    link.latency_us = read_quantity(one.member("latency_us"), Zero::accepted);
    if (one.has("per_flow")) link.per_flow = one.member("per_flow").truth();
    shape.links.push_back(std::move(link));
  }
}

// [from, to, [link, ...]]: nodes and links by number.
void read_routes(const JsonAt& at, Machine& machine) {
  for (const JsonAt& one : at.elements()) {
    const std::vector<JsonAt> parts = one.elements();
    if (parts.size() != 3)
      one.refuse("has not three elements; [node, node, [link, ...]] is accepted");
    FabricShape::Route route;
    route.from = read_whole(parts[0], 0, machine.nodes - 1);
    route.to = read_whole(parts[1], 0, machine.nodes - 1);
    for (const JsonAt& link : parts[2].elements()) {
      route.links.push_back(read_whole(link, 0, static_cast<int>(machine.shape.links.size()) - 1));
    }
    machine.shape.routes.push_back(std::move(route));
  }
}

void read_shape(const JsonAt& at, Machine& machine) {
  FabricShape& shape = machine.shape;
  const auto whole = [&](const char* key, int low, int& value) {
    if (at.has(key)) value = read_whole(at.member(key), low, most_nodes);
  };
  if (machine.fabric == "rail") {
    at.only_keys({"kind", "nodes_per_leaf", "leaves_per_pod", "spine"});
    if (at.has("spine")) shape.spine = at.member("spine").truth();
  } else if (machine.fabric == "fat-tree") {
    at.only_keys({"kind", "nodes_per_leaf", "leaves_per_pod"});
  } else if (machine.fabric == "dragonfly") {
    at.only_keys({"kind", "nodes_per_router", "routers_per_group"});
  } else if (machine.fabric == "grid") {
    at.only_keys({"kind", "dimensions"});
    read_dimensions(at.member("dimensions"), machine);
  } else if (machine.fabric == "routes") {
    at.only_keys({"kind", "links", "routes"});
    read_fabric_links(at.member("links"), shape);
    read_routes(at.member("routes"), machine);
  } else {
    at.only_keys({"kind"});
  }
  whole("nodes_per_leaf", 0, shape.nodes_per_leaf);
  whole("leaves_per_pod", 0, shape.leaves_per_pod);
  whole("nodes_per_router", 1, shape.nodes_per_router);
  whole("routers_per_group", 1, shape.routers_per_group);
}

}  // namespace

void read_fabric(const JsonAt& root, Machine& machine) {
  if (!root.has("fabric")) return;
  const JsonAt at = root.member("fabric");
  const bool whole_object = at.is_object();
  machine.fabric = read_choice(whole_object ? at.member("kind") : at, fabric_names());
  if (whole_object || machine.fabric == "grid" || machine.fabric == "routes")
    read_shape(at, machine);
  const bool has_nic = std::any_of(machine.nic_of_gpu.begin(), machine.nic_of_gpu.end(),
                                   [](int n) { return n >= 0; });
  if (machine.fabric != "none" && !has_nic) {
    at.refuse("is \"" + machine.fabric + "\" but no GPU has a NIC; \"none\" is accepted");
  }
}

OrderedJson fabric_json(const Machine& machine) {
  const FabricShape& shape = machine.shape;
  if (shape == FabricShape{}) return machine.fabric;
  OrderedJson json;
  json["kind"] = machine.fabric;
  if (machine.fabric == "rail" || machine.fabric == "fat-tree") {
    json["nodes_per_leaf"] = shape.nodes_per_leaf;
    json["leaves_per_pod"] = shape.leaves_per_pod;
  }
  if (machine.fabric == "rail") json["spine"] = shape.spine;
  if (machine.fabric == "dragonfly") {
    json["nodes_per_router"] = shape.nodes_per_router;
    json["routers_per_group"] = shape.routers_per_group;
  }
  for (const FabricShape::Dimension& dimension : shape.dimensions) {
    json["dimensions"].push_back({{"form", dimension.form},
                                  {"size", dimension.size},
                                  {"gbps", quantity_json(dimension.gbps)},
                                  {"latency_us", quantity_json(dimension.latency_us)}});
  }
  for (const FabricShape::Link& link : shape.links) {
    json["links"].push_back({{"name", link.name},
                             {"gbps", quantity_json(link.gbps)},
                             {"latency_us", quantity_json(link.latency_us)},
                             {"per_flow", link.per_flow}});
  }
  for (const FabricShape::Route& route : shape.routes)
    json["routes"].push_back({route.from, route.to, route.links});
  return json;
}

}  // namespace sym::models::detail
