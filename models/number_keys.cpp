// The numbers that a machine file may hold: key, unit, when it must be there, meaning.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>

#include "models/machine_detail.hpp"

namespace sym::models {
namespace detail {

const std::vector<NumberKey>& number_table() {
  using enum Needed;
  static const std::vector<NumberKey> table = {
      {"compute_capability", "x 10", optional, true,
       "of the GPUs, 90 for Hopper: which of NCCL's constants hold"},
      {"block_us", "us", optional, false, "what each further block of a launch costs"},
      {"copy_engine_gbps", "GB/s", always, false, "copy engine, each way, both directions busy"},
      {"copy_engine_oneway_gbps", "GB/s", optional, false, "copy engine, one direction only"},
      {"copy_engine_start_us", "us", always, false, "start of one copy-engine transfer"},
      {"copy_engine_turn_us", "us", optional, false,
       "from the end of a kernel to a copy that waits for it, inside a graph"},
      {"default_blocks", "blocks", always, true, "blocks that a bandwidth kernel uses"},
      {"early_us", "us", optional, false,
       "how much sooner a launch begins that is set up while the one before it runs"},
      {"fabric_hop_us", "us", optional, false,
       "each switch or router of the fabric on a way, beyond the first"},
      {"flag_us", "us", always, false,
       "one-way relaxed flag: remote store until a polling peer sees it"},
      {"flag_turn_us", "us", optional, false,
       "beside flag_us, for each other block of the launch whose flags go at the same time"},
      {"gemm_tflops_bf16", "TFLOPS", always, false,
       "large bf16 GEMM in whole waves, all SMs, no communication beside it"},
      {"gemm_tile_m", "rows", optional, true,
       "height of the output tile of one SM in a GEMM; 128 if not given"},
      {"gemm_tile_n", "cols", optional, true,
       "width of the output tile of one SM in a GEMM; 256 if not given"},
      {"global_gbps", "GB/s", with_dragonfly, false,
       "between two groups of routers of a dragonfly, each way"},
      {"hbm_gbps", "GB/s", always, false, "device memory, bytes read plus bytes written"},
      {"launch_us", "us", always, false, "end of a kernel to start of the next inside a graph"},
      {"leaf_oversubscription", "x", optional, false,
       "rates of the NICs on a leaf switch over the rate of its uplinks; 1: none"},
      {"load_local_us", "us", always, false, "dependent load from this GPU's memory"},
      {"load_remote_us", "us", always, false, "dependent load from a peer's memory, round trip"},
      {"local_gbps", "GB/s", with_dragonfly, false,
       "between two routers of one group of a dragonfly, each way"},
      {"nccl_all_gather_gbps", "GB/s", optional, false,
       "bus bandwidth of NCCL's all_gather on large messages"},
      {"nccl_all_gather_us", "us", optional, false, "... and what it takes beside those bytes"},
      {"nccl_all_reduce_gbps", "GB/s", optional, false, "all_reduce likewise"},
      {"nccl_all_reduce_us", "us", optional, false, "..."},
      {"nccl_all_to_all_gbps", "GB/s", optional, false, "all_to_all likewise"},
      {"nccl_all_to_all_us", "us", optional, false, "..."},
      {"nccl_broadcast_gbps", "GB/s", optional, false, "broadcast likewise"},
      {"nccl_broadcast_us", "us", optional, false, "..."},
      {"nccl_channel_gbps", "GB/s", optional, false,
       "what one channel of NCCL's, a block, copies to a peer; no limit if not given"},
      {"nccl_net_chunk_bytes", "bytes", optional, true,
       "NCCL_P2P_NET_CHUNKSIZE, of sends between nodes; NCCL's default if not given"},
      {"nccl_overhead_us", "us", optional, false,
       "what NCCL's proxy takes for a request to a NIC; 1 if not given (Intel; 2: AMD)"},
      {"nccl_reduce_scatter_gbps", "GB/s", optional, false, "reduce_scatter likewise"},
      {"nccl_reduce_scatter_us", "us", optional, false, "..."},
      {"nccl_split_bytes", "bytes", optional, true,
       "NCCL's messages between nodes of more bytes are two requests; none is, if not given"},
      {"nic_flag_us", "us", optional, false,
       "one way between nodes of a flag alone; as nic_latency_us if not given"},
      {"nic_gbps", "GB/s", with_nics, false, "one NIC, effective, each way"},
      {"nic_latency_us", "us", with_nics, false,
       "one way between nodes, GPU-initiated, after posting"},
      {"nic_line_gbps", "GB/s", optional, false,
       "line rate of a NIC, by which NCCL chooses; the next standard one if not given"},
      {"nic_post_us", "us", with_nics, false, "posting one request to a NIC from a GPU"},
      {"nic_window", "peers", with_nics, true, "peers with an outstanding transfer at one time"},
      {"node_gbps", "GB/s", with_pcie_pairs, false, "GPU pair of class node, each way"},
      {"nvls_efficiency", "x", optional, false,
       "share of a port's rate that NVLink multicast gets; not given: there is none", 1},
      {"packet_pass_bytes", "bytes", optional, true,
       "payload of a message that the lanes of a block send or receive at one time"},
      {"packet_pass_us", "us", optional, false,
       "each such pass of a message, beside the time of its bytes"},
      {"pcie_gbps", "GB/s", optional, false,
       "a GPU's PCIe link to its nearest NIC, each way; as nic_gbps if not given"},
      {"phb_gbps", "GB/s", with_pcie_pairs, false, "GPU pair of class phb, each way"},
      {"piece_us", "us", optional, false,
       "a block's put_signal under load, beside its bytes, until the peer's block goes on"},
      {"pix_gbps", "GB/s", with_pcie_pairs, false, "GPU pair of class pix, each way"},
      {"pod_oversubscription", "x", optional, false,
       "rates of the uplinks of a pod's leaves over the rate to the core; 1: none"},
      {"port_gbps", "GB/s", always, false,
       "a GPU's port, SM copies, each way, both directions busy"},
      {"port_oneway_gbps", "GB/s", always, false, "a GPU's port, SM copies, one direction only"},
      {"port_read_gbps", "GB/s", optional, false,
       "a GPU's port, both sides reading each other, each way"},
      {"post_us", "us", optional, false,
       "a queue's flag behind a copy, until it leaves; launch_us if not given"},
      {"put_release_us", "us", optional, false,
       "a release while stores to a peer are under way; as release_us if not given"},
      {"pxb_gbps", "GB/s", with_pcie_pairs, false, "GPU pair of class pxb, each way"},
      {"ramp_us", "us", optional, false,
       "a kernel's cold start and last stores, beyond what an empty one takes"},
      {"release_us", "us", always, false, "system-scope release fence"},
      {"slots_us", "us", optional, false,
       "a sum of what lies in slots, beside verb_us and its bytes: its instructions"},
      {"sm_local_gbps", "GB/s", always, false,
       "local memory, one block, bytes read plus bytes written"},
      {"sm_read_gbps", "GB/s", always, false, "one block of 1024 threads copying from a peer"},
      {"sm_reduce_gbps", "GB/s", optional, false,
       "one block that reduces what it reads from a peer; as sm_read_gbps if not given"},
      {"sm_write_gbps", "GB/s", always, false, "one block of 1024 threads copying to a peer"},
      {"sms", "SMs", optional, true,
       "streaming multiprocessors, which share a GEMM's tiles; 132 if not given"},
      {"sync_us", "us", always, false, "block-wide barrier"},
      {"sys_gbps", "GB/s", with_pcie_pairs, false, "GPU pair of class sys, each way"},
      {"verb_us", "us", optional, false,
       "a verb on data, beside its loads and bytes: instructions, and a release behind its stores"},
      {"warp_us", "us", optional, false, "what each warp of a block adds to a small message"},
  };
  return table;
}

std::string value_fault(const std::string& key, double value) {
  const auto& table = number_table();
  const auto found = std::find_if(table.begin(), table.end(),
                                  [&](const NumberKey& one) { return key == one.key; });
  if (found == table.end()) return "";
  std::array<char, 96> text{};
  if (found->most <= 1 && value > found->most) {
    std::snprintf(text.data(), text.size(), "is %.6g; a share above 0 and up to %.6g is accepted",
                  value, found->most);
  } else if (found->whole && (value != std::floor(value) || value < 1)) {
    std::snprintf(text.data(), text.size(), "is %.6g; a whole number from 1 on is accepted", value);
  }
  return text.data();
}

std::vector<std::string> required_keys(const Machine& machine) {
  std::vector<std::string> keys;
  for (const NumberKey& number : number_table()) {
    bool needed = number.needed == Needed::always;
    if (number.needed == Needed::with_nics) needed = machine.nics_per_node > 0;
    if (number.needed == Needed::with_pcie_pairs) {
      const auto is_this = [&](LinkClass c) {
        return std::string(number.key) == std::string(link_class_name(c)) + "_gbps";
      };
      needed = std::any_of(machine.pair_class.begin(), machine.pair_class.end(), is_this) ||
               std::any_of(machine.nic_class.begin(), machine.nic_class.end(), is_this);
    }
    if (number.needed == Needed::with_dragonfly) needed = machine.fabric == "dragonfly";
    if (needed) keys.emplace_back(number.key);
  }
  return keys;
}

const std::vector<std::string>& link_class_names() {
  static const std::vector<std::string> names = {"self", "nvlink", "pix", "pxb",
                                                 "phb",  "node",   "sys"};
  return names;
}

const char* link_class_name(LinkClass link_class) {
  return link_class_names().at(static_cast<std::size_t>(link_class)).c_str();
}

std::string file_stem(const std::string& path) {
  return std::filesystem::path(path).stem().string();
}

LinkClass pair_class_of(const Machine& machine, int from, int to) {
  if (from == to) return LinkClass::self;
  if (machine.pair_class.empty()) return LinkClass::nvlink;
  return machine.pair_class.at(static_cast<std::size_t>(from) *
                                   static_cast<std::size_t>(machine.gpus_per_node) +
                               static_cast<std::size_t>(to));
}

int pair_lanes_of(const Machine& machine, int from, int to) {
  if (from == to || machine.pair_lanes.empty()) return 0;
  return machine.pair_lanes.at(static_cast<std::size_t>(from) *
                                   static_cast<std::size_t>(machine.gpus_per_node) +
                               static_cast<std::size_t>(to));
}

}  // namespace detail

const std::map<std::string, std::string>& number_keys() {
  static const std::map<std::string, std::string> keys = [] {
    std::map<std::string, std::string> built;
    for (const detail::NumberKey& number : detail::number_table()) {
      built[number.key] = std::string(number.meaning) + " (" + number.unit + ")";
    }
    return built;
  }();
  return keys;
}

}  // namespace sym::models
