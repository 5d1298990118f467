// NCCL's and RCCL's topology XML (NCCL_TOPO_DUMP_FILE, NCCL_TOPO_FILE) -> Machine.
//
// The file is a tree: <system>, <cpu> for each NUMA node, <pci> nested as PCIe is. A <pci> is a GPU
// (<gpu> inside, or a class of displays and accelerators), a NIC (<nic> inside, or a class of
// networks) or a switch. NCCL fills in what a file leaves out from the machine that it runs on; we
// cannot, so what is missing is assumed where NCCL has a constant for it, and marked, or refused.
#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <set>
#include <stdexcept>

#include "models/machine_detail.hpp"
#include "models/nccl_classless.hpp"
#include "models/rates.hpp"
#include "models/readers.hpp"
#include "models/xml_reader.hpp"

namespace sym::models::detail {
namespace {

constexpr double nic_efficiency = 0.97;  // 48.5 of 50 GB/s: machines/dgx-h100.json

std::string rate_name(const char* prefix, double gbps) {
  std::array<char, 32> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%s%.3g", prefix, gbps);
  return buffer.data();
}

class NcclReader {
 public:
  explicit NcclReader(const XmlFile& file) : file_(file), classless_(XmlAt::root(file)) {}

  Machine read() {
    const XmlAt system = XmlAt::root(file_);
    const std::vector<XmlAt> cpus = system.children({"cpu"});
    if (cpus.empty()) system.refuse("has no <cpu>; one for each NUMA node is accepted");
    for (const XmlAt& cpu : cpus) read_cpu(cpu);
    join_cpus(cpus);
    if (gpus_.empty())
      system.refuse(
          "has no GPU; a <gpu>, or a <pci> of class 0x0300, 0x0302, 0x0380 or 0x1200, is accepted");
    order_devices();
    join_lanes();
    const std::string fault = wiring_fault(graph_);
    if (!fault.empty()) system.refuse("is no wiring: " + fault);
    return finish();
  }

 private:
  struct Gpu {
    int vertex;
    int dev;                     // NCCL's number, or the place in the file
    std::vector<XmlAt> element;  // <gpu>, if there is one
  };
  struct Nic {
    int vertex;
    Quantity gbps;
  };

  int add_vertex(const std::string& name, VertexKind kind) {
    graph_.vertices.push_back({name, kind});
    return static_cast<int>(graph_.vertices.size()) - 1;
  }

  int add_type(const std::string& name, LinkKind kind, double gbps, const std::string& source) {
    for (std::size_t i = 0; i < graph_.types.size(); ++i) {
      if (graph_.types[i].name == name) return static_cast<int>(i);
    }
    graph_.types.push_back({name, kind, {gbps, "assumed: " + source, false}, {}, {}});
    return static_cast<int>(graph_.types.size()) - 1;
  }

  void read_cpu(const XmlAt& cpu) {
    const std::string name = "cpu" + std::to_string(cpu.whole("numaid", -1, 4096));
    const int vertex = add_vertex(name, VertexKind::bridge);
    cpus_.push_back(vertex);
    for (const XmlAt& child : cpu.children({"pci", "nic"})) {
      if (child.name() == "pci") read_pci(child, vertex);
      if (child.name() == "nic") read_nets(child, vertex, -1, PcieRate{});
    }
  }

  void join_cpus(const std::vector<XmlAt>& cpus) {
    if (cpus.size() < 2) return;
    const int hub = add_vertex("smp", VertexKind::smp);
    for (std::size_t i = 0; i < cpus.size(); ++i) {
      const XmlAt& cpu = cpus[i];
      const bool stated = cpu.has("familyid") && cpu.has("modelid");
      const double gbps = socket_gbps(cpu.text_or("arch", ""), cpu.text_or("vendor", ""),
                                      stated ? cpu.whole("familyid", 0, 1 << 20) : 0,
                                      stated ? cpu.whole("modelid", 0, 1 << 20) : 0);
      const std::string name = rate_name("socket-", gbps);
      const int type =
          add_type(name, LinkKind::socket, gbps,
                   stated ? "NCCL's constant for this CPU, between sockets"
                          : "NCCL's constant between sockets of a CPU that it does not "
                            "know; the file states no family");
      graph_.links.push_back({cpus_[i], hub, type, 1});
    }
  }

  enum class Device { gpu, nic, hub, ignored };

  Device device_of(const XmlAt& pci) const {
    if (pci.has_child("gpu")) return Device::gpu;
    if (pci.has_child("nic")) return Device::nic;
    if (pci.has_child("pci")) return Device::hub;
    const std::string word = pci.text_or("class", "").substr(0, 6);
    if (word.empty()) {
      const std::string busid = pci.text("busid");
      if (!classless_.settled())
        pci.refuse(
            "states no class, and nothing else says whether it is a GPU or a NIC; "
            "class=\"0x030200\" (GPU) or \"0x020000\" (NIC) is accepted");
      return classless_.is_gpu(busid) ? Device::gpu : Device::nic;
    }
    static const std::map<std::string, Device> devices = {
        {"0x0300", Device::gpu}, {"0x0302", Device::gpu},    {"0x0380", Device::gpu},
        {"0x1200", Device::gpu}, {"0x0200", Device::nic},    {"0x0207", Device::nic},
        {"0x0604", Device::hub}, {"0x0680", Device::ignored}};  // 0680: an NVSwitch's own PCIe end
    const auto found = devices.find(word);
    if (found == devices.end()) {
      pci.refuse("has the unknown class " + pci.text("class") +
                 "; 0x0300, 0x0302, 0x0380, 0x1200 (GPUs), 0x0200, 0x0207 (NICs) and 0x0604 "
                 "(switches) are accepted");
    }
    return found->second;
  }

  void read_pci(const XmlAt& pci, int parent) {
    const std::string busid = pci.text("busid");
    if (!busids_.insert(busid).second)
      pci.refuse("has busid " + busid + ", which is given twice; once is accepted");
    const Device device = device_of(pci);
    if (device == Device::ignored) return;
    const PcieRate rate = pcie_gbps(pci.text_or("link_speed", ""),
                                    pci.has("link_width") ? pci.whole("link_width", 0, 64) : 0);
    if (device == Device::nic) {
      if (pci.has_child("nic")) {
        for (const XmlAt& nic : pci.children({"nic"}))
          read_nets(nic, parent, pcie_type(rate), rate);
      } else {
        add_nic(busid, parent, pcie_type(rate), assumed_nic_speed(pci, rate));
      }
      return;
    }
    const bool is_gpu = device == Device::gpu;
    const int vertex = add_vertex(busid, is_gpu ? VertexKind::gpu : VertexKind::pcie_switch);
    graph_.links.push_back({vertex, parent, pcie_type(rate), 1});
    if (is_gpu) {
      const std::vector<XmlAt> inside = pci.children({"gpu"});
      const bool numbered = !inside.empty() && inside[0].has("dev");
      gpus_.push_back({vertex,
                       numbered ? inside[0].whole("dev", 0, 4095) : static_cast<int>(gpus_.size()),
                       inside});
      return;
    }
    for (const XmlAt& child : pci.children({"pci"})) read_pci(child, vertex);
  }

  int pcie_type(const PcieRate& rate) {
    const std::string name = rate_name("pcie-", rate.gbps);
    return rate.stated
               ? add_type(name, LinkKind::pcie, rate.gbps,
                          "NCCL's 12 GB/s for 16 lanes of generation 3, in proportion to the "
                          "file's speed and width")
               : add_type(name + "-unstated", LinkKind::pcie, rate.gbps,
                          "NCCL's 12 GB/s for 16 lanes of generation 3; the file states no speed");
  }

  // A port of `parent` itself where `type` is below 0.
  void add_nic(const std::string& name, int parent, int type, const Quantity& gbps) {
    if (type < 0)
      type = add_type("nic-" + name, LinkKind::pcie, gbps.value,
                      "as the NIC, whose PCIe link the file does not state");
    const int vertex = add_vertex(name, VertexKind::nic);
    graph_.links.push_back({vertex, parent, type, 1});
    nics_.push_back({vertex, gbps});
  }

  Quantity assumed_nic_speed(const XmlAt& pci, const PcieRate& rate) const {
    // 400 Gb/s sit on generation 5 with 16 lanes, 200 on 4, 100 on 3.
    const double gbps = rate.gbps / 48 * 50 * nic_efficiency;
    return {
        gbps,
        "assumed: " + pci.place() + " states no speed; what suits its PCIe link, x 0.97 effective",
        false};
  }

  void read_nets(const XmlAt& nic, int parent, int type, const PcieRate& rate) {
    const std::vector<XmlAt> nets = nic.children({"net", "gin", "rma"});
    for (const XmlAt& net : nets) {
      if (net.name() != "net") continue;  // other uses of the same port
      const std::string name = net.text("name");
      if (!net.has("speed")) {
        add_nic(name, parent, type, assumed_nic_speed(net, rate));
        continue;
      }
      const int megabits = net.whole("speed", 1, 100000000);
      add_nic(
          name, parent, type,
          {megabits / 8000.0 * nic_efficiency,
           "assumed: " + std::to_string(megabits) + " Mb/s of " + net.place() + " x 0.97 effective",
           false});
    }
  }

  // GPUs by NCCL's number; of the NICs only the fastest kind, which is what NCCL uses.
  void order_devices() {
    std::stable_sort(gpus_.begin(), gpus_.end(),
                     [](const Gpu& a, const Gpu& b) { return a.dev < b.dev; });
    double fastest = 0;
    for (const Nic& nic : nics_) fastest = std::max(fastest, nic.gbps.value);
    std::vector<int> order;
    for (const Gpu& gpu : gpus_) order.push_back(gpu.vertex);
    for (const Nic& nic : nics_) {
      if (nic.gbps.value >= fastest / 2)
        order.push_back(nic.vertex);
      else
        left_out_.push_back(graph_.vertices[static_cast<std::size_t>(nic.vertex)].name);
    }
    std::erase_if(nics_, [&](const Nic& nic) { return nic.gbps.value < fastest / 2; });
    std::vector<int> place(graph_.vertices.size(), -1);
    std::vector<Graph::Vertex> vertices;
    const auto keep = [&](int vertex) {
      place[static_cast<std::size_t>(vertex)] = static_cast<int>(vertices.size());
      vertices.push_back(graph_.vertices[static_cast<std::size_t>(vertex)]);
    };
    for (const int vertex : order) keep(vertex);
    for (std::size_t v = 0; v < graph_.vertices.size(); ++v) {
      const VertexKind kind = graph_.vertices[v].kind;
      if (kind != VertexKind::gpu && kind != VertexKind::nic) keep(static_cast<int>(v));
    }
    graph_.vertices = std::move(vertices);
    std::erase_if(graph_.links, [&](const Graph::Link& link) {
      return place[static_cast<std::size_t>(link.a)] < 0 ||
             place[static_cast<std::size_t>(link.b)] < 0;
    });
    for (Graph::Link& link : graph_.links) {
      link.a = place[static_cast<std::size_t>(link.a)];
      link.b = place[static_cast<std::size_t>(link.b)];
    }
    for (std::size_t i = 0; i < gpus_.size(); ++i) gpus_[i].vertex = static_cast<int>(i);
  }

  // What <nvlink> and <xgmi> say. Each GPU names its own lanes, so a direct pair is named twice.
  void join_lanes() {
    std::map<std::pair<int, int>, std::pair<int, int>> pairs;  // (GPU, GPU): lanes, type
    for (const Gpu& gpu : gpus_) {
      if (gpu.element.empty()) continue;
      int to_switch = 0;
      int type = -1;
      for (const XmlAt& lane : gpu.element[0].children({"nvlink", "xgmi", "c2c", "pcilink"})) {
        if (lane.name() == "c2c" || lane.name() == "pcilink")
          continue;  // to a CPU, or PCIe between GPUs
        const int count = lane.whole("count", 1, 1024);
        type = lane_type(gpu.element[0], lane.name() == "xgmi");
        const int peer = lane_target(lane);
        if (peer < 0)
          to_switch += count;
        else if (peer == gpu.vertex)
          ++self_lanes_;
        else
          pairs[{gpu.vertex, peer}] = {count, type};
      }
      if (to_switch > 0) join_switch(gpu.vertex, to_switch, type);
    }
    for (const auto& [ends, lanes] : pairs) {
      const auto back = pairs.find({ends.second, ends.first});
      if (back == pairs.end() || back->second.first != lanes.first) {
        XmlAt::root(file_).refuse(
            "has lanes from " + graph_.vertices[static_cast<std::size_t>(ends.first)].name +
            " to " + graph_.vertices[static_cast<std::size_t>(ends.second)].name +
            " that do not come back; the same count both ways is accepted");
      }
      if (ends.first < ends.second)
        graph_.links.push_back({ends.first, ends.second, lanes.second, lanes.first});
    }
  }

  void join_switch(int gpu, int lanes, int type) {
    if (switch_ < 0) switch_ = add_vertex("nvswitch", VertexKind::nvswitch);
    graph_.links.push_back({gpu, switch_, type, lanes});
  }

  // The GPU of that bus id, or -1 for a switch: a bridge by its class, or one that a virtual
  // machine does not show.
  int lane_target(const XmlAt& lane) const {
    const std::string target = lane.text("target");
    for (const Gpu& gpu : gpus_) {
      if (graph_.vertices[static_cast<std::size_t>(gpu.vertex)].name == target) return gpu.vertex;
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
    return add_type(
        xgmi ? "xgmi" : "nvlink", xgmi ? LinkKind::xgmi : LinkKind::nvlink, gbps,
        known > 0 ? std::string(xgmi ? "RCCL" : "NCCL") + "'s rate of a lane, src/graph/topo.h"
                  : "20 GB/s a lane; the file does not say which GPU this is");
  }

  Machine finish() {
    Machine machine;
    machine.name = file_stem(file_.origin);
    machine.graph = std::move(graph_);
    count_devices(machine);
    machine.fabric = machine.nics_per_node > 0 ? "rail" : "none";
    assume_numbers(machine);
    if (!nics_.empty()) machine.numbers["nic_gbps"] = nics_[0].gbps;
    if (!gpus_[0].element.empty()) {
      const XmlAt& gpu = gpus_[0].element[0];
      assume_gpu_numbers(machine, gpu.text_or("gcn", gpu.text_or("sm", "")));
    }
    assume_fabric_numbers(machine);
    machine.description =
        "Wiring from NCCL's topology XML; rates are NCCL's constants for it, other numbers are "
        "assumed.";
    if (classless_.used())
      machine.description += " Devices without a class: " + classless_.how() + ".";
    if (self_lanes_ > 0) machine.description += " NVLinks of a GPU to itself are left out.";
    for (const std::string& name : left_out_)
      machine.description += " NIC " + name + " is left out: it is slower.";
    const bool lanes = std::any_of(
        machine.graph.types.begin(), machine.graph.types.end(),
        [](const LinkType& t) { return t.kind == LinkKind::nvlink || t.kind == LinkKind::xgmi; });
    if (!lanes && machine.gpus_per_node > 1)
      machine.description +=
          " The file names no NVLink (NCCL asks the driver for them), so all pairs go by PCIe; "
          "links of "
          "kind nvlink in the JSON form add them.";
    if (machine.nics_per_node > 0) machine.description += " The fabric between nodes is assumed.";
    return machine;
  }

  const XmlFile& file_;
  NcclClassless classless_;
  Graph graph_;
  std::vector<int> cpus_;
  std::vector<Gpu> gpus_;
  std::vector<Nic> nics_;
  std::set<std::string> busids_;
  std::vector<std::string> left_out_;
  int switch_ = -1;
  int self_lanes_ = 0;
};

}  // namespace

Machine read_nccl_system(const XmlFile& file) { return NcclReader(file).read(); }

}  // namespace sym::models::detail
