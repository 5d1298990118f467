#include "models/tuner_table.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <numeric>
#include <set>
#include <stdexcept>

#include "models/multicast.hpp"

#ifndef SYM_NCCL_TABLE
#define SYM_NCCL_TABLE "models/nccl/tuner.json"
#endif

namespace sym::models::detail {

namespace {

nlohmann::json read_table() {
  std::ifstream in(SYM_NCCL_TABLE, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  return parse_strict_json(text, SYM_NCCL_TABLE);
}

[[noreturn]] void refuse(const Machine& machine, const std::string& what) {
  throw std::invalid_argument("machine '" + machine.name + "': NCCL is modelled for " + what);
}

int generation_of(const Machine& machine) {
  const int given = static_cast<int>(machine.number_or("compute_capability", 0));
  int found = 0;
  for (const std::string& key : nccl_table().member("generations").keys()) {
    if (key != "source" && std::stoi(key) <= given) found = std::max(found, std::stoi(key));
  }
  if (found == 0) refuse(machine, "GPUs whose compute_capability is given, from 70 on");
  return found;
}

// The fastest of `speeds` of which `most` times as much as one fits.
double fastest(const JsonAt& speeds, double times, double most) {
  double last = 0;
  for (const JsonAt& speed : speeds.elements()) {
    last = speed.positive();
    if (last * times <= most * (1 + 1e-9)) break;
  }
  return last;
}

// The search takes the fastest speed first, and a slower one, down to about half of it, only if
// that gives more in all.
NcclGraph ring_in_node(const NcclSystem& system) {
  NcclGraph best;
  for (const JsonAt& each : system.constants().member("speeds").elements()) {
    const double speed = each.positive();
    const int channels = static_cast<int>(system.nvlink_gbps / speed + 1e-9);
    if (best.channels > 0 && speed <= 0.49 * best.intra_gbps) break;
    if (channels * speed > best.channels * best.intra_gbps + 1e-9) best = {channels, speed, speed};
  }
  return best;
}

NcclGraph ring_over_nics(const NcclSystem& system) {
  const double speed = fastest(system.constants().member("net_speeds"), 1, system.nic_gbps);
  const int of_a_nic = std::max(1, static_cast<int>(system.nic_gbps / speed + 1e-9));
  return {system.nics * of_a_nic, speed, speed};
}

// Fast channels are cut in two (ncclTopoDupChannels).
void duplicate(const NcclSystem& system, NcclGraph& graph) {
  const bool enough = system.generation > 80 && graph.intra_gbps < 50 && graph.channels > 4;
  if (graph.intra_gbps < 25 || enough) return;
  graph.channels *= 2;
  graph.intra_gbps /= 2;
  graph.inter_gbps /= 2;
}

}  // namespace

JsonAt nccl_table() {
  static const nlohmann::json table = read_table();
  return {table, SYM_NCCL_TABLE, ""};
}

JsonAt NcclSystem::constants() const {
  return nccl_table().member("generations").member(std::to_string(generation));
}

NcclSystem nccl_system(const Machine& machine, int pes) {
  NcclSystem system;
  system.generation = generation_of(machine);
  constexpr int most = 8;
  const int gpus = machine.gpus_per_node;
  system.pes = pes;
  system.nodes = (pes + gpus - 1) / gpus;
  if (gpus > most) refuse(machine, "nodes of at most 8 GPUs");
  if (pes < 2 || pes % system.nodes != 0 || (system.nodes > 1 && pes % gpus != 0))
    refuse(machine, "2 GPUs or more that fill their nodes");
  system.per_node = pes / system.nodes;
  if (!machine.graph.links.empty())
    refuse(machine, "nodes whose GPUs all reach each other over NVLink switches");
  for (std::size_t pair = 1; pair < machine.pair_class.size(); ++pair) {
    const LinkClass one = machine.pair_class[pair];
    if (one != LinkClass::nvlink && one != LinkClass::self)
      refuse(machine, "nodes whose GPUs all reach each other over NVLink switches");
  }
  // Pairs behind a switch state all lanes each.
  double lanes = system.constants().member("lanes").positive();
  const auto row_end = machine.pair_lanes.begin() + (machine.pair_lanes.empty() ? 0 : gpus);
  const int of_pairs = std::accumulate(machine.pair_lanes.begin(), row_end, 0);
  if (of_pairs > 0) lanes = std::min<double>(lanes, of_pairs);
  system.nvlink_gbps = lanes * system.constants().member("lane_gbps").positive();
  system.multicast = has_multicast(machine);
  system.overhead_us = machine.number_or(
      "nccl_overhead_us", nccl_table().member("net_overhead_us").member("intel").positive());
  system.channel_gbps = machine.number_or("nccl_channel_gbps", 0);
  if (system.nodes == 1) return system;
  system.split_bytes = machine.number_or("nccl_split_bytes", 0);
  system.chunk_bytes = machine.number_or(
      "nccl_net_chunk_bytes", nccl_table().member("sends").member("net_step_bytes").positive());
  const std::set<int> nics(machine.nic_of_gpu.begin(), machine.nic_of_gpu.end());
  system.nics = static_cast<int>(nics.size());
  if (machine.nics_per_node == 0) refuse(machine, "nodes with NICs, where there are several");
  system.nic_gbps = machine.number_or("nic_line_gbps", 0);
  for (const JsonAt& line : nccl_table().member("net_gbps").member("lines").elements()) {
    if (system.nic_gbps > 0) break;
    if (line.positive() >= machine.number("nic_gbps")) system.nic_gbps = line.positive();
  }
  if (system.nic_gbps <= 0) system.nic_gbps = machine.number("nic_gbps");
  return system;
}

NcclGraph nccl_graph(const NcclSystem& system, const std::string& algorithm) {
  const bool alone = system.nodes == 1;
  if (algorithm == "ring" || algorithm == "tree") {
    NcclGraph graph = alone ? ring_in_node(system) : ring_over_nics(system);
    duplicate(system, graph);
    return graph;
  }
  // A channel for each GPU as head, which sends its own part and what the others reduce.
  NcclGraph graph;
  graph.channels = system.per_node;
  graph.intra_gbps = fastest(system.constants().member(alone ? "speeds" : "net_speeds"),
                             system.per_node + 1, system.nvlink_gbps);
  graph.inter_gbps =
      alone ? graph.intra_gbps
            : ring_over_nics(system).channels * ring_over_nics(system).inter_gbps / system.per_node;
  return graph;
}

}  // namespace sym::models::detail
