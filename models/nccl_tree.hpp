// The tree of CPUs, PCIe switches and devices in NCCL's topology XML, as a graph.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "models/machine.hpp"
#include "models/nccl_classless.hpp"
#include "models/rates.hpp"
#include "models/xml_reader.hpp"

namespace sym::models::detail {

// What read() leaves: vertices with the GPUs first, in NCCL's order, then the NICs; links of PCIe
// and between sockets. The file must outlive it.
class NcclTree {
 public:
  struct Gpu {
    int vertex;
    int dev;                     // NCCL's number, or the place in the file
    std::vector<XmlAt> element;  // <gpu>, if there is one
  };
  struct Nic {
    int vertex;
    Quantity gbps;       // effective
    Quantity line_gbps;  // by which NCCL chooses
  };

  explicit NcclTree(const XmlFile& file) : file_(file), classless_(XmlAt::root(file)) {}

  void read();

  int add_vertex(const std::string& name, VertexKind kind);
  // The type of that name, which is made if there is none; the source is marked as assumed.
  int add_type(const std::string& name, LinkKind kind, double gbps, const std::string& source);

  Graph graph;
  std::vector<Gpu> gpus;
  std::vector<Nic> nics;
  std::vector<std::string> left_out;  // NICs slower than the others
  const NcclClassless& classless() const { return classless_; }

 private:
  enum class Device { gpu, nic, hub, ignored };

  void read_cpu(const XmlAt& cpu);
  void join_cpus(const std::vector<XmlAt>& cpus);
  Device device_of(const XmlAt& pci) const;
  void read_pci(const XmlAt& pci, int parent);
  void read_nets(const XmlAt& nic, int parent, int type, const PcieRate& rate);
  void add_nic(const std::string& name, int parent, int type, const Quantity& line);
  int pcie_type(const PcieRate& rate);
  void drop_slow_nics();
  void order_devices();

  const XmlFile& file_;
  NcclClassless classless_;
  std::vector<int> cpus_;
  std::set<std::string> busids_;
};

}  // namespace sym::models::detail
