#include "sim/platform.hpp"

#include <algorithm>
#include <string>

#include "core/error.hpp"

namespace sym::sim {

using models::LinkClass;

namespace {
const char* number_of(LinkClass link) {
  switch (link) {
    case LinkClass::pix:
      return "pix_gbps";
    case LinkClass::pxb:
      return "pxb_gbps";
    case LinkClass::phb:
      return "phb_gbps";
    case LinkClass::node:
      return "node_gbps";
    default:
      return "sys_gbps";
  }
}
}  // namespace

int Platform::add_link(double gbps) {
  links_.push_back(gbps * 1e9);
  return static_cast<int>(links_.size()) - 1;
}

Platform::Platform(const models::Machine& machine, int pes)
    : machine_(machine), per_node_(machine.gpus_per_node) {
  if (pes > machine.pes()) {
    throw UsageError("machine " + machine.name + " has " + std::to_string(machine.pes()) +
                     " GPUs, " + std::to_string(pes) + " PEs were asked for; use fewer --pes" +
                     (machine.nics_per_node > 0 ? ", or " + machine.name + "*N for N nodes" : ""));
  }
  for (int lanes : machine.pair_lanes) most_lanes_ = std::max(most_lanes_, lanes);
  const double port = machine.number("port_gbps");
  for (int pe = 0; pe < pes; ++pe) {
    out_.push_back(add_link(port));
    in_.push_back(add_link(port));
  }
  const int nodes = (pes + per_node_ - 1) / per_node_;
  const bool sockets = std::find(machine.pair_class.begin(), machine.pair_class.end(),
                                 LinkClass::sys) != machine.pair_class.end();
  for (int node = 0; node < nodes; ++node) {
    if (sockets) socket_.push_back(add_link(machine.number("sys_gbps")));
    for (int nic = 0; nodes > 1 && nic < machine.nics_per_node; ++nic) {
      nic_out_.push_back(add_link(machine.number("nic_gbps")));
      nic_in_.push_back(add_link(machine.number("nic_gbps")));
    }
  }
}

Route Platform::route(int from, int to) const {
  const int from_node = from / per_node_;
  const int to_node = to / per_node_;
  const int a = from % per_node_;
  const int b = to % per_node_;
  Route route;
  if (from_node != to_node) {
    const auto nic = [&](int gpu) { return machine_.nic_of_gpu[static_cast<std::size_t>(gpu)]; };
    if (nic_out_.empty() || nic(a) < 0 || nic(b) < 0) {
      throw UsageError("machine " + machine_.name + ": PE " + std::to_string(from) + " and PE " +
                       std::to_string(to) +
                       " are on different nodes and have no NICs between them");
    }
    route.nic = true;
    route.links = {nic_out_[static_cast<std::size_t>(from_node * machine_.nics_per_node + nic(a))],
                   nic_in_[static_cast<std::size_t>(to_node * machine_.nics_per_node + nic(b))]};
    return route;
  }
  route.links = {out_[static_cast<std::size_t>(from)], in_[static_cast<std::size_t>(to)]};
  if (machine_.pair_class.empty()) return route;
  const auto pair = static_cast<std::size_t>(a * per_node_ + b);
  const LinkClass link = machine_.pair_class[pair];
  if (link == LinkClass::nvlink) {
    const int lanes = machine_.pair_lanes.empty() ? most_lanes_ : machine_.pair_lanes[pair];
    if (lanes < most_lanes_) {
      route.rate_cap_bytes_per_s = machine_.number("port_gbps") * 1e9 * lanes / most_lanes_;
    }
    return route;
  }
  route.rate_cap_bytes_per_s = machine_.number(number_of(link)) * 1e9;
  if (link == LinkClass::sys) {
    route.links.push_back(socket_[static_cast<std::size_t>(from_node)]);
  }
  return route;
}

}  // namespace sym::sim
