#include "sim/platform.hpp"

#include <algorithm>
#include <utility>

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

Platform::Platform(const models::Machine& machine, int pes, const Disturbance& disturbance,
                   std::vector<int> placement)
    : machine_(checked(machine, pes)),
      per_node_(machine.gpus_per_node),
      placement_(std::move(placement)),
      nodes_(
          (placement_.empty() ? pes - 1 : *std::max_element(placement_.begin(), placement_.end())) /
              per_node_ +
          1),
      node_(machine_, placement_.empty() ? std::min(pes, per_node_) : per_node_,
            nodes_ > 1 && machine.nics_per_node > 0) {
  for (int node = 0; node < nodes_; ++node)
    links_.insert(links_.end(), node_.link_bytes_per_s().begin(), node_.link_bytes_per_s().end());
  if (nodes_ > 1 && machine_.fabric != "none") {
    fabric_ = make_fabric(machine_, [this](double bytes_per_s, const std::string& name) {
      return add_link(bytes_per_s, name);
    });
  }
  require_pes(disturbance, pes);
  disturb(disturbance);
}

int Platform::add_link(double bytes_per_s, const std::string& name) {
  links_.push_back(bytes_per_s);
  fabric_names_.push_back(name);
  return static_cast<int>(links_.size()) - 1;
}

// A link of its own for each thing that is slow: the others stay what they are, also those that
// were left out because they could never be full.
void Platform::disturb(const Disturbance& disturbance) {
  for (const auto& [pe, factor] : disturbance.slow_nics) {
    const Place at = place(pe);
    const int nic = machine_.nics_per_node > 0 ? nic_of(at.gpu) : -1;
    if (nic < 0 || nodes_ == 1)
      throw UsageError("slow_nic=" + std::to_string(pe) + ": no NIC of it carries traffic");
    const double rate = machine_.number("nic_gbps") * 1e9 / factor;
    const std::string name =
        "slow nic" + std::to_string(nic) + " of node " + std::to_string(at.node);
    const int out = add_link(rate, name + " out");
    slow_nics_[{at.node, nic}] = {out, add_link(rate, name + " in")};
  }
  for (const Disturbance::Pair& pair : disturbance.slow_links) {
    for (const auto& [from, to] : {std::pair{pair.from, pair.to}, std::pair{pair.to, pair.from}}) {
      const Route route = undisturbed_route(from, to);
      double rate = route.rate_cap_bytes_per_s;
      for (const int link : route.links)
        rate = std::min(rate, links_[static_cast<std::size_t>(link)]);
      slow_ways_[{from, to}] = add_link(
          rate / pair.value, "slow way " + std::to_string(from) + ">" + std::to_string(to));
    }
  }
}

std::string Platform::link_name(int link) const {
  const int a_node = static_cast<int>(node_.link_bytes_per_s().size());
  if (link < a_node * nodes_)
    return "node " + std::to_string(link / a_node) + " " + node_.link_name(link % a_node);
  return fabric_names_[static_cast<std::size_t>(link - a_node * nodes_)];
}

const char* Platform::link_kind(int link) const {
  const std::string name = link_name(link);
  if (name.find("nic") != std::string::npos) return "NIC";
  if (name.rfind("slow way", 0) == 0) return "slow way";
  const bool of_node = link < static_cast<int>(node_.link_bytes_per_s().size()) * nodes_;
  return of_node ? "port" : "fabric";
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
  Route route = undisturbed_route(from_pe, to_pe);
  if (route.nic && !slow_nics_.empty()) {
    const Place from = place(from_pe);
    const Place to = place(to_pe);
    const bool rails = fabric_->keeps_to_rails();
    const auto out = slow_nics_.find({from.node, nic_of(rails ? to.gpu : from.gpu)});
    const auto in = slow_nics_.find({to.node, nic_of(to.gpu)});
    if (out != slow_nics_.end()) route.links.push_back(out->second.first);
    if (in != slow_nics_.end()) route.links.push_back(in->second.second);
  }
  if (!slow_ways_.empty()) {
    const auto slow = slow_ways_.find({from_pe, to_pe});
    if (slow != slow_ways_.end()) route.links.push_back(slow->second);
  }
  return route;
}

Route Platform::multicast(int pe, const std::vector<int>& members, bool loads) const {
  if (!node_.has_multicast()) {
    throw UsageError("machine " + machine_.name +
                     " has no NVLink multicast, which needs nvls_efficiency among its numbers and "
                     "NVLink switches that join all GPUs of a node");
  }
  const Place at = place(pe);
  Route route;
  append(route, at.node, loads ? node_.from_switch(at.gpu) : node_.to_switch(at.gpu));
  double farthest_s = 0;
  for (const int member : members) {
    const Place other = place(member);
    if (other.node != at.node) {
      throw UsageError("multicast reaches the GPUs of one node: PE " + std::to_string(pe) +
                       " and PE " + std::to_string(member) + " are on different nodes of " +
                       machine_.name + "; nvls_tree is for several");
    }
    const NodeWays::Way& way = loads ? node_.to_switch(other.gpu) : node_.from_switch(other.gpu);
    const double latency_s = route.latency_s;
    append(route, at.node, way);
    farthest_s = std::max(farthest_s, way.latency_s);
    route.latency_s = latency_s;
    const auto slow = slow_ways_.find(loads ? std::pair{member, pe} : std::pair{pe, member});
    if (slow != slow_ways_.end()) route.links.push_back(slow->second);
  }
  route.latency_s += farthest_s;
  return route;
}

Route Platform::undisturbed_route(int from_pe, int to_pe) const {
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
