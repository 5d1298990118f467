#include "sim/platform.hpp"

#include <algorithm>

#include "core/error.hpp"

namespace sym::sim {
namespace {

const models::Machine& checked(const models::Machine& machine, int pes) {
  if (pes > machine.pes()) {
    throw UsageError("machine " + machine.name + " has " + std::to_string(machine.pes()) +
                     " GPUs, " + std::to_string(pes) + " PEs were asked for; use fewer --pes" +
                     (machine.nics_per_node > 0 ? ", or " + machine.name + "*N for N nodes" : ""));
  }
  return machine;
}

}  // namespace

Platform::Platform(const models::Machine& machine, int pes)
    : machine_(checked(machine, pes)),
      per_node_(machine.gpus_per_node),
      nodes_((pes - 1) / per_node_ + 1),
      node_(machine_, std::min(pes, per_node_), nodes_ > 1 && machine.nics_per_node > 0) {
  for (int node = 0; node < nodes_; ++node)
    links_.insert(links_.end(), node_.link_bytes_per_s().begin(), node_.link_bytes_per_s().end());
  if (nodes_ == 1 || machine_.fabric == "none") return;
  fabric_ = make_fabric(machine_, [this](double bytes_per_s, const std::string& name) {
    links_.push_back(bytes_per_s);
    fabric_names_.push_back(name);
    return static_cast<int>(links_.size()) - 1;
  });
}

std::string Platform::link_name(int link) const {
  const int a_node = static_cast<int>(node_.link_bytes_per_s().size());
  if (link < a_node * nodes_)
    return "node " + std::to_string(link / a_node) + " " + node_.link_name(link % a_node);
  return fabric_names_[static_cast<std::size_t>(link - a_node * nodes_)];
}

int Platform::nic_of(int gpu) const { return machine_.nic_of_gpu[static_cast<std::size_t>(gpu)]; }

int Platform::gpu_beside(int nic) const {
  const auto found = std::find(machine_.nic_of_gpu.begin(), machine_.nic_of_gpu.end(), nic);
  return static_cast<int>(found - machine_.nic_of_gpu.begin());
}

void Platform::append(Route& route, int node, const NodeWays::Way& way) const {
  const int first = node * static_cast<int>(node_.link_bytes_per_s().size());
  for (const int link : way.links) route.links.push_back(first + link);
  route.latency_s += way.latency_s;
}

double Platform::latency_s(int from_pe, int to_pe) const {
  const Place from = place(from_pe);
  const Place to = place(to_pe);
  if (from.node == to.node) return node_.between(from.gpu, to.gpu).latency_s;
  return route(from_pe, to_pe).latency_s;
}

Route Platform::route(int from_pe, int to_pe) const {
  const Place from = place(from_pe);
  const Place to = place(to_pe);
  Route route;
  route.links.reserve(8);
  if (from.node == to.node) {
    append(route, from.node, node_.between(from.gpu, to.gpu));
    return route;
  }
  if (!passes_nics(from, to)) {
    throw UsageError("machine " + machine_.name + ": PE " + std::to_string(from_pe) + " and PE " +
                     std::to_string(to_pe) +
                     " are on different nodes and have no NICs between them");
  }
  route.nic = true;
  int leaves_at = from.gpu;  // the GPU beside the NIC through which it leaves
  if (fabric_->keeps_to_rails() && nic_of(from.gpu) != nic_of(to.gpu)) {
    leaves_at = gpu_beside(nic_of(to.gpu));
    append(route, from.node, node_.between(from.gpu, leaves_at));
  }
  append(route, from.node, node_.to_nic(leaves_at));
  const FabricWay way = fabric_->way({from.node, nic_of(leaves_at)}, {to.node, nic_of(to.gpu)});
  route.links.insert(route.links.end(), way.links.begin(), way.links.end());
  route.latency_s += way.latency_s;
  route.rate_cap_bytes_per_s = way.rate_cap_bytes_per_s;
  append(route, to.node, node_.from_nic(to.gpu));
  return route;
}

}  // namespace sym::sim
