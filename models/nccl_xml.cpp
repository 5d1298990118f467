// NCCL's and RCCL's topology XML (NCCL_TOPO_DUMP_FILE, NCCL_TOPO_FILE) -> Machine.
//
// The file is a tree: <system>, <cpu> for each NUMA node, <pci> nested as PCIe is. A <pci> is a GPU
// (<gpu> inside, or a class of displays and accelerators), a NIC (<nic> inside, or a class of
// networks) or a switch. NCCL fills in what a file leaves out from the machine that it runs on; we
// cannot, so what is missing is assumed where NCCL has a constant for it, and marked, or refused.
#include <algorithm>
#include <map>

#include "models/machine_detail.hpp"
#include "models/nccl_tree.hpp"
#include "models/rates.hpp"
#include "models/readers.hpp"
#include "models/xml_reader.hpp"

namespace sym::models::detail {
namespace {

class NcclReader {
 public:
  explicit NcclReader(const XmlFile& file) : file_(file), tree_(file) {}

  Machine read() {
    tree_.read();
    join_lanes();
    const std::string fault = wiring_fault(tree_.graph);
    if (!fault.empty()) XmlAt::root(file_).refuse("is no wiring: " + fault);
    return finish();
  }

 private:
  // What <nvlink> and <xgmi> say. Each GPU names its own lanes, so a direct pair is named twice.
  void join_lanes() {
    std::map<std::pair<int, int>, std::pair<int, int>> pairs;  // (GPU, GPU): lanes, type
    for (const NcclTree::Gpu& gpu : tree_.gpus) {
      if (gpu.element.empty()) continue;
      int to_switch = 0;
      int type = -1;
      for (const XmlAt& lane : gpu.element[0].children({"nvlink", "xgmi", "c2c", "pcilink"})) {
        if (lane.name() == "c2c" || lane.name() == "pcilink")
          continue;  // to a CPU, or PCIe between GPUs
        const int count = lane.whole("count", 1, 1024);
        const int peer = lane_target(lane);
        if (peer == gpu.vertex) {
          ++self_lanes_;
          continue;
        }
        type = lane_type(gpu.element[0], lane.name() == "xgmi");
        if (peer < 0) {
          to_switch += count;
        } else {
          pairs[{gpu.vertex, peer}].first += count;
          pairs[{gpu.vertex, peer}].second = type;
        }
      }
      if (to_switch > 0) join_switch(gpu.vertex, to_switch, type);
    }
    for (const auto& [ends, lanes] : pairs) {
      const auto back = pairs.find({ends.second, ends.first});
      if (back == pairs.end() || back->second.first != lanes.first) {
        XmlAt::root(file_).refuse(
            "has lanes from " + tree_.graph.vertices[static_cast<std::size_t>(ends.first)].name +
            " to " + tree_.graph.vertices[static_cast<std::size_t>(ends.second)].name +
            " that do not come back; the same count both ways is accepted");
      }
      if (ends.first < ends.second)
        tree_.graph.links.push_back({ends.first, ends.second, lanes.second, lanes.first});
    }
  }

  void join_switch(int gpu, int lanes, int type) {
    if (switch_ < 0) switch_ = tree_.add_vertex("nvswitch", VertexKind::nvswitch);
    tree_.graph.links.push_back({gpu, switch_, type, lanes});
  }

  // The GPU of that bus id, or -1 for a switch: a bridge by its class, or one that a virtual
  // machine does not show.
  int lane_target(const XmlAt& lane) const {
    const std::string target = lane.text("target");
    for (const NcclTree::Gpu& gpu : tree_.gpus) {
      if (tree_.graph.vertices[static_cast<std::size_t>(gpu.vertex)].name == target)
        return gpu.vertex;
    }
    const std::string word = lane.text_or("tclass", "").substr(0, 6);
    if (word == "0x0680" || target == "-1" || target.rfind("ffff", 0) == 0) return -1;
    lane.refuse(
        "has target " + target +
        ", which is no GPU of the file; a GPU's busid, or a switch (tclass 0x068000), is accepted");
  }

  int lane_type(const XmlAt& gpu, bool xgmi) {
    const int sm = gpu.has("sm") ? gpu.whole("sm", 0, 1000) : 0;
    const std::string gcn = gpu.text_or("gcn", "");
    const double known = xgmi ? xgmi_gbps(gcn) : nvlink_gbps(sm);
    const double gbps = known > 0 ? known : 20;
    return tree_.add_type(
        xgmi ? "xgmi" : "nvlink", xgmi ? LinkKind::xgmi : LinkKind::nvlink, gbps,
        known > 0 ? std::string(xgmi ? "RCCL" : "NCCL") + "'s rate of a lane, src/graph/topo.h"
                  : "20 GB/s a lane; the file does not say which GPU this is");
  }

  Machine finish() {
    Machine machine;
    machine.name = file_stem(file_.origin);
    machine.graph = std::move(tree_.graph);
    count_devices(machine);
    machine.fabric = machine.nics_per_node > 0 ? "rail" : "none";
    assume_numbers(machine);
    if (!tree_.nics.empty()) {
      machine.numbers["nic_gbps"] = tree_.nics[0].gbps;
      machine.numbers["nic_line_gbps"] = tree_.nics[0].line_gbps;
    }
    if (!tree_.gpus[0].element.empty()) {
      const XmlAt& gpu = tree_.gpus[0].element[0];
      assume_gpu_numbers(machine, gpu.text_or("gcn", gpu.text_or("sm", "")));
      set_capability(machine, gpu);
    }
    assume_fabric_numbers(machine);
    machine.description =
        "Wiring from NCCL's topology XML; rates are NCCL's constants for it, other numbers are "
        "assumed.";
    if (tree_.classless().used())
      machine.description += " Devices without a class: " + tree_.classless().how() + ".";
    if (self_lanes_ > 0) machine.description += " NVLinks of a GPU to itself are left out.";
    for (const std::string& name : tree_.left_out)
      machine.description += " NIC " + name + " is left out: it is slower.";
    const bool lanes = std::any_of(
        machine.graph.types.begin(), machine.graph.types.end(),
        [](const LinkType& t) { return t.kind == LinkKind::nvlink || t.kind == LinkKind::xgmi; });
    if (!lanes && machine.gpus_per_node > 1)
      machine.description +=
          " The file names no NVLink (NCCL asks the driver for them), so all pairs go by PCIe; "
          "links of kind nvlink in the JSON form add them.";
    if (machine.nics_per_node > 0) machine.description += " The fabric between nodes is assumed.";
    return machine;
  }

  // As the file says of its GPUs; none of those that have no such thing.
  static void set_capability(Machine& machine, const XmlAt& gpu) {
    if (gpu.has("gcn")) {
      machine.numbers.erase("compute_capability");
    } else if (gpu.has("sm")) {
      machine.numbers["compute_capability"] = {static_cast<double>(gpu.whole("sm", 1, 1000)),
                                               "assumed: as " + gpu.place() + " says", false};
    }
  }

  const XmlFile& file_;
  NcclTree tree_;
  int switch_ = -1;
  int self_lanes_ = 0;
};

}  // namespace

Machine read_nccl_system(const XmlFile& file) { return NcclReader(file).read(); }

}  // namespace sym::models::detail
