// The numbers of a machine of which only the wiring is known. All are assumed: the text of
// `nvidia-smi topo -m` names neither the GPU nor a rate.
#include <algorithm>
#include <array>
#include <stdexcept>

#include "models/machine_detail.hpp"

namespace sym::models::detail {
namespace {

constexpr const char* base_name = "dgx-h100";
constexpr int base_lanes = 18;
constexpr int oldest_full_port_lanes = 12;  // A100 has 12, V100 6; Hopper and later 18
// NCCL's GB/s a lane, src/graph/topo.h: SM80 20.0, SM90 20.6.
constexpr double nvlink3_over_nvlink4 = 20.0 / 20.6;
constexpr double base_links_gbps = 18 * 20.6;
constexpr double pcie_port_gbps = 24;

struct Assumed {
  const char* key;
  double value;
  const char* source;
};

constexpr std::array a100_numbers = {
    Assumed{"hbm_gbps", 1592, "A100 80 GB, h200x2's 3748 x 2.04/4.8 TB/s raw"},
    Assumed{"gemm_tflops_bf16", 238, "A100, 312 dense peak x h200x2's 756 of 989"},
    Assumed{"sms", 108, "A100 data sheet"},
    Assumed{"nic_gbps", 24.25, "200 Gb/s NIC, half of dgx-h100's"},
    Assumed{"nic_line_gbps", 25, "200 Gb/s NIC"},
    Assumed{"compute_capability", 80, "A100 data sheet (8.0 is 80)"},
};

constexpr std::array pcie_numbers = {
    Assumed{"port_gbps", pcie_port_gbps,
            "PCIe gen4 x16 (NCCL's constant, from memory), the text states no generation"},
    Assumed{"port_oneway_gbps", pcie_port_gbps, "PCIe gen4 x16 (NCCL's constant, from memory)"},
    Assumed{"port_read_gbps", pcie_port_gbps, "PCIe gen4 x16 (NCCL's constant, from memory)"},
    Assumed{"copy_engine_gbps", pcie_port_gbps, "PCIe gen4 x16 (NCCL's constant, from memory)"},
    Assumed{"copy_engine_oneway_gbps", pcie_port_gbps,
            "PCIe gen4 x16 (NCCL's constant, from memory)"},
    Assumed{"flag_us", 1.5, "twice NVLink's, across PCIe switches or the host bridge"},
    Assumed{"load_remote_us", 1.8, "twice NVLink's, across PCIe switches or the host bridge"},
    Assumed{"nic_gbps", 24.25, "200 Gb/s NIC, half of dgx-h100's"},
};

// Rates of PCIe pairs; which of them a machine needs depends on its pairs.
constexpr std::array pair_numbers = {
    Assumed{"pix_gbps", pcie_port_gbps,
            "PCIe gen4 x16 through one switch (NCCL's constant, from memory)"},
    Assumed{"pxb_gbps", pcie_port_gbps,
            "PCIe gen4 x16 through several switches (NCCL's constant, from memory)"},
    Assumed{"phb_gbps", pcie_port_gbps,
            "PCIe gen4 x16 through the host bridge (NCCL's constant, from memory)"},
    Assumed{"node_gbps", 18, "between host bridges of one socket; a guess between phb and sys"},
    Assumed{"sys_gbps", 10, "between sockets; NCCL has 6 to 40 by CPU generation"},
};

// GPUs of 18 lanes sit on PCIe gen5.
constexpr std::array hopper_pair_numbers = {
    Assumed{"pix_gbps", 55, "PCIe gen5 x16 through one switch (anchors/simulators.md 2.3)"},
    Assumed{"pxb_gbps", 55, "PCIe gen5 x16 through several switches (anchors/simulators.md 2.3)"},
    Assumed{"phb_gbps", 55, "PCIe gen5 x16 through the host bridge (anchors/simulators.md 2.3)"},
};

// Only keys that the machine already needs: a machine without NICs gets no NIC's rate.
template <std::size_t count>
void replace(Machine& machine, const std::array<Assumed, count>& values) {
  for (const Assumed& assumed : values) {
    const auto found = machine.numbers.find(assumed.key);
    if (found != machine.numbers.end()) {
      found->second = {assumed.value, std::string("assumed: ") + assumed.source, false};
    }
  }
}

// Lanes of the widest GPU's port. Behind a switch every pair reports the whole port; without one
// the lanes of a row add up, and no GPU so far has more than 18.
int port_lanes(const Machine& machine) {
  int widest = 0;
  for (int from = 0; from < machine.gpus_per_node; ++from) {
    int sum = 0;
    int most = 0;
    for (int to = 0; to < machine.gpus_per_node; ++to) {
      sum += pair_lanes_of(machine, from, to);
      most = std::max(most, pair_lanes_of(machine, from, to));
    }
    widest = std::max(widest, sum <= base_lanes ? sum : most);
  }
  return widest;
}

constexpr std::array port_keys = {"port_gbps", "port_oneway_gbps", "port_read_gbps",
                                  "copy_engine_gbps", "copy_engine_oneway_gbps"};

void scale_port_by(Machine& machine, double factor, const std::string& how) {
  for (const char* key : port_keys) {
    Quantity& quantity = machine.numbers.at(key);
    quantity = {quantity.value * factor, how, false};
  }
}

void scale_port(Machine& machine, int lanes) {
  const bool older = lanes <= oldest_full_port_lanes;
  const double factor =
      static_cast<double>(lanes) / base_lanes * (older ? nvlink3_over_nvlink4 : 1);
  const std::string how =
      std::string("assumed: ") + base_name + "'s x " + std::to_string(lanes) + "/18 lanes" +
      (older ? " x 20.0/20.6 GB/s a lane (NCCL, NVLink3 over NVLink4)" : ", NVLink4");
  scale_port_by(machine, factor, how);
}

// GB/s of the widest GPU's links of these sorts, all lanes together.
double link_gbps(const Graph& graph, bool fast) {
  double widest = 0;
  for (const int gpu : graph.all(VertexKind::gpu)) {
    double sum = 0;
    for (const Graph::Link& link : graph.links) {
      const LinkKind kind = graph.type(link).kind;
      const bool is_fast = kind == LinkKind::nvlink || kind == LinkKind::xgmi;
      if (is_fast == fast && (link.a == gpu || link.b == gpu))
        sum += graph.type(link).gbps.value * link.lanes;
    }
    widest = std::max(widest, sum);
  }
  return widest;
}

// The links' own rates are known: ports follow them.
void assume_ports_of_graph(Machine& machine) {
  if (const double fast = link_gbps(machine.graph, true); fast > 0) {
    scale_port_by(
        machine, fast / base_links_gbps,
        "assumed: dgx-h100's 353 GB/s of its 18 x 20.6, in proportion to this port's links");
    return;
  }
  if (machine.gpus_per_node < 2) return;
  replace(machine, pcie_numbers);
  const double pcie = link_gbps(machine.graph, false);
  for (const char* key : port_keys)
    machine.numbers.at(key) = {pcie, "assumed: the rate of the GPU's PCIe link", false};
}

// One block cannot move more than the port does.
void cap_block_rates(Machine& machine) {
  const double port = machine.number("port_gbps");
  for (const char* key : {"sm_write_gbps", "sm_read_gbps"}) {
    Quantity& quantity = machine.numbers.at(key);
    if (quantity.value > port)
      quantity = {port, "assumed: the port's, which is slower than one block", false};
  }
}

}  // namespace

void assume_numbers(Machine& machine) {
  const std::vector<std::string> names = machine_names();
  // Checked first: a file of the base's name in the working directory is not the base.
  if (std::find(names.begin(), names.end(), base_name) == names.end()) {
    throw std::invalid_argument(
        "machine '" + machine.name + "': topology text takes its numbers from the machine '" +
        base_name + "', which is not among the machines; set SYM_MACHINES to their folder");
  }
  const Machine base = load_machine(base_name);
  for (const NumberKey& number : number_table()) {
    const auto found = base.numbers.find(number.key);
    if (found == base.numbers.end() || !is_inherited(number.key)) continue;
    if (number.needed == Needed::with_nics && machine.nics_per_node == 0) continue;
    if (machine.fabric == "none" && std::string(number.key).rfind("fabric", 0) == 0) continue;
    machine.numbers[number.key] = {found->second.value, std::string("assumed: as ") + base_name,
                                   false};
  }
  const int lanes = machine.graph.empty() ? port_lanes(machine) : 0;
  if (!machine.graph.empty()) {
    assume_ports_of_graph(machine);
  } else if (lanes == 0 && machine.gpus_per_node > 1) {
    replace(machine, pcie_numbers);
  } else if (lanes > 0) {
    scale_port(machine, lanes);
    if (lanes <= oldest_full_port_lanes) replace(machine, a100_numbers);
  }
  cap_block_rates(machine);
  for (const std::string& key : required_keys(machine)) machine.numbers.try_emplace(key);
  replace(machine, pair_numbers);
  if (lanes > oldest_full_port_lanes) replace(machine, hopper_pair_numbers);
  assume_fabric_numbers(machine);
}

}  // namespace sym::models::detail
