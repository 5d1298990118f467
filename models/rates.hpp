// Rates of hardware that a topology file names but does not measure: NCCL's and RCCL's constants
// (src/graph/topo.h of both, 2026) and data sheets. All are assumptions, and their sources say so.
#pragma once

#include <string>

#include "models/machine.hpp"

namespace sym::models::detail {

// GB/s each way of one NVLink lane, by compute capability times 10; 0: not known.
double nvlink_gbps(int sm);
// ... of one xGMI link, by RCCL's name of the GPU ("gfx942", "910").
double xgmi_gbps(const std::string& gcn);
// ... of a PCIe link: NCCL counts 12 GB/s for 16 lanes of "8 GT/s" and in proportion. An unknown or
// missing speed is generation 3, a missing width 16, as NCCL takes them; `stated` is false then.
struct PcieRate {
  double gbps = 0;
  bool stated = true;
};
PcieRate pcie_gbps(const std::string& link_speed, int link_width);
// ... between the sockets or NUMA nodes of a CPU, by the attributes of NCCL's <cpu>.
double socket_gbps(const std::string& arch, const std::string& vendor, int family, int model);

// Memory, products and SMs of a GPU by compute capability ("90") or gfx name; leaves the machine's
// numbers as they are for one that it does not know.
void assume_gpu_numbers(Machine& machine, const std::string& gpu);

}  // namespace sym::models::detail
