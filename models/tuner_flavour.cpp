// nccl_flavour: see nccl.hpp.
#include <algorithm>

#include "models/multicast.hpp"
#include "models/nccl.hpp"
#include "models/nccl_channels.hpp"
#include "models/tuner_table.hpp"

namespace sym::models {
namespace {

class Flavour {
 public:
  Flavour(Machine machine, const NcclChoice& choice)
      : machine_(std::move(machine)),
        source_("assumed: NCCL's " + choice.algorithm + "/" + choice.protocol +
                " (models/nccl/tuner.json)") {}

  void set(const std::string& key, double value) {
    machine_.numbers[key] = Quantity{value, source_, false};
  }
  Machine& machine() { return machine_; }

 private:
  Machine machine_;
  std::string source_;
};

// Rates that never bound: NCCL's are the ports' and the NICs'.
constexpr double unbounded_gbps = 1e6;

// What the busiest port or rail of our variant carries for each byte that NCCL counts.
double port_bytes(const NcclChoice& choice, const NcclCall& call, int pes) {
  const bool all_reduce = call.collective == "all_reduce";
  if (choice.algorithm == "nvls") return all_reduce ? (pes + 1.0) / pes : 1;
  return (all_reduce ? 2.0 : 1.0) * (pes - 1) / pes;
}
double rail_bytes(const NcclChoice& choice, int nodes) {
  if (choice.algorithm != "nvls_tree") return 2.0 * (nodes - 1) / nodes;
  return nodes == 2 ? 1 : 2;  // two trees: half up and half down of one edge each; or of two
}

}  // namespace

std::string nccl_variant(const NcclChoice& choice, const std::string& collective, int nodes) {
  if (choice.algorithm == "ring") return "ring";
  if (is_multicast(choice.algorithm)) return choice.algorithm;
  if (collective != "all_reduce") return "direct";
  return nodes == 1 ? "two_shot" : "hierarchical_ring";
}

Machine nccl_flavour(const Machine& machine, const NcclChoice& choice, const NcclCall& call) {
  const detail::NcclSystem system = detail::nccl_system(machine, call.pes);
  Flavour flavour(machine, choice);
  const bool ring = choice.algorithm == "ring";
  for (const char* key : {"ramp_us", "flag_us", "load_local_us", "load_remote_us", "sync_us",
                          "nic_post_us", "nic_flag_us"})
    flavour.set(key, 0);
  const double hop_us = std::max(choice.hop_us, choice.requests_us);
  flavour.set("launch_us", (ring ? choice.base_us : choice.latency_us) + choice.fill_us);
  flavour.set("nvls_efficiency", 1);  // it is in NCCL's rates
  // Payloads take a hop, and their flags follow at once. Our ring has a barrier at each end, whose
  // flags have no payload; NCCL has none.
  flavour.set("release_us", 0);
  flavour.set("put_release_us", ring ? hop_us : 0);
  flavour.set("nic_latency_us", ring ? std::max(choice.net_hop_us, choice.requests_us) : 0);
  for (const char* key : {"sm_local_gbps", "sm_read_gbps", "sm_write_gbps", "hbm_gbps"})
    flavour.set(key, unbounded_gbps);
  const double port = choice.algbw_gbps * port_bytes(choice, call, system.pes);
  // NCCL's levels work at a time, those of our hierarchical one after the other: the one that
  // bounds NCCL has its rate, and the other costs nothing.
  const bool levels = !ring && call.collective == "all_reduce" && system.nodes > 1;
  for (const char* key : {"port_gbps", "port_oneway_gbps", "port_read_gbps"})
    flavour.set(
        key, levels ? unbounded_gbps : std::min(port, detail::ring_channels_gbps(system, choice)));
  if (system.nodes == 1) return flavour.machine();
  // Our ring leaves a node through one NIC, NCCL's channels through all: that one stands for them.
  const double nics = levels ? 1 : system.nics;
  const double rail =
      levels ? choice.algbw_gbps * rail_bytes(choice, system.nodes) / system.nics : port;
  const double line = machine.number("nic_gbps") * nics;
  flavour.set("nic_gbps", ring || levels ? std::min(line, rail)
                                         : detail::sends_nic_gbps(system, call, line / nics));
  flavour.set("pcie_gbps", unbounded_gbps);
  // Pieces that are under way together share a NIC, and none is there before the last: few of them.
  flavour.set("nic_window", choice.algorithm == "nvls_tree" ? 8 : system.pes);
  return flavour.machine();
}

}  // namespace sym::models
