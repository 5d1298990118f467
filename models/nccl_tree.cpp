#include "models/nccl_tree.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>

namespace sym::models::detail {
namespace {

constexpr double nic_efficiency = 0.97;  // 48.5 of 50 GB/s: machines/dgx-h100.json

std::string rate_name(const char* prefix, double gbps) {
  std::array<char, 32> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%s%.3g", prefix, gbps);
  return buffer.data();
}

Quantity assumed_nic_speed(const XmlAt& pci, const PcieRate& rate) {
  // 400 Gb/s sit on generation 5 with 16 lanes, 200 on 4, 100 on 3.
  return {rate.gbps / 48 * 50,
          "assumed: " + pci.place() + " states no speed; what suits its PCIe link", false};
}

// An empty speed, one in other words ("Unknown") and a width of 0 beside them are what virtual
// machines show: not stated. A number that no link can have is refused.
PcieRate pcie_rate_of(const XmlAt& pci) {
  const std::string speed = pci.text_or("link_speed", "");
  const int width = pci.has("link_width") ? pci.whole("link_width", 0, 64) : 0;
  char* end = nullptr;
  const double gigatransfers = std::strtod(speed.c_str(), &end);
  const bool is_number = end != speed.c_str();
  if (is_number && !(gigatransfers > 0 && gigatransfers <= 1e4))
    pci.refuse("has link_speed=\"" + speed + "\"; a number of GT/s above 0 is accepted");
  if (is_number && pci.has("link_width") && width == 0)
    pci.refuse("has link_width=\"0\" beside link_speed=\"" + speed +
               "\"; 1 to 64 lanes are accepted");
  return pcie_gbps(speed, width);
}

}  // namespace

void NcclTree::read() {
  const XmlAt system = XmlAt::root(file_);
  const std::vector<XmlAt> cpus = system.children({"cpu"});
  if (cpus.empty()) system.refuse("has no <cpu>; one for each NUMA node is accepted");
  for (const XmlAt& cpu : cpus) read_cpu(cpu);
  join_cpus(cpus);
  if (gpus.empty())
    system.refuse(
        "has no GPU; a <gpu>, or a <pci> of class 0x0300, 0x0302, 0x0380 or 0x1200, is accepted");
  drop_slow_nics();
  order_devices();
}

int NcclTree::add_vertex(const std::string& name, VertexKind kind) {
  graph.vertices.push_back({name, kind});
  return static_cast<int>(graph.vertices.size()) - 1;
}

int NcclTree::add_type(const std::string& name, LinkKind kind, double gbps,
                       const std::string& source) {
  for (std::size_t i = 0; i < graph.types.size(); ++i) {
    if (graph.types[i].name == name) return static_cast<int>(i);
  }
  graph.types.push_back({name, kind, {gbps, "assumed: " + source, false}, {}, {}});
  return static_cast<int>(graph.types.size()) - 1;
}

void NcclTree::read_cpu(const XmlAt& cpu) {
  const std::string name = "cpu" + std::to_string(cpu.whole("numaid", -1, 4096));
  const int vertex = add_vertex(name, VertexKind::bridge);
  cpus_.push_back(vertex);
  for (const XmlAt& child : cpu.children({"pci", "nic"})) {
    if (child.name() == "pci") read_pci(child, vertex);
    if (child.name() == "nic") read_nets(child, vertex, -1, PcieRate{});
  }
}

void NcclTree::join_cpus(const std::vector<XmlAt>& cpus) {
  if (cpus.size() < 2) return;
  const int hub = add_vertex("smp", VertexKind::smp);
  for (std::size_t i = 0; i < cpus.size(); ++i) {
    const XmlAt& cpu = cpus[i];
    const bool stated = cpu.has("familyid") && cpu.has("modelid");
    const double gbps = socket_gbps(cpu.text_or("arch", ""), cpu.text_or("vendor", ""),
                                    stated ? cpu.whole("familyid", 0, 1 << 20) : 0,
                                    stated ? cpu.whole("modelid", 0, 1 << 20) : 0);
    const std::string name = rate_name("socket-", gbps);
    const int type = add_type(name, LinkKind::socket, gbps,
                              stated ? "NCCL's constant for this CPU, between sockets"
                                     : "NCCL's constant between sockets of a CPU that it does not "
                                       "know; the file states no family");
    graph.links.push_back({cpus_[i], hub, type, 1});
  }
}

NcclTree::Device NcclTree::device_of(const XmlAt& pci) const {
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

void NcclTree::read_pci(const XmlAt& pci, int parent) {
  const std::string busid = pci.text("busid");
  if (!busids_.insert(busid).second)
    pci.refuse("has busid " + busid + ", which is given twice; once is accepted");
  const Device device = device_of(pci);
  if (device == Device::ignored) return;
  const PcieRate rate = pcie_rate_of(pci);
  if (device == Device::nic) {
    if (pci.has_child("nic")) {
      for (const XmlAt& nic : pci.children({"nic"})) read_nets(nic, parent, pcie_type(rate), rate);
    } else {
      add_nic(busid, parent, pcie_type(rate), assumed_nic_speed(pci, rate));
    }
    return;
  }
  const bool is_gpu = device == Device::gpu;
  const int vertex = add_vertex(busid, is_gpu ? VertexKind::gpu : VertexKind::pcie_switch);
  graph.links.push_back({vertex, parent, pcie_type(rate), 1});
  if (is_gpu) {
    const std::vector<XmlAt> inside = pci.children({"gpu"});
    const bool numbered = !inside.empty() && inside[0].has("dev");
    gpus.push_back({vertex,
                    numbered ? inside[0].whole("dev", 0, 4095) : static_cast<int>(gpus.size()),
                    inside});
    return;
  }
  for (const XmlAt& child : pci.children({"pci"})) read_pci(child, vertex);
}

int NcclTree::pcie_type(const PcieRate& rate) {
  const std::string name = rate_name("pcie-", rate.gbps);
  return rate.stated
             ? add_type(name, LinkKind::pcie, rate.gbps,
                        "NCCL's 12 GB/s for 16 lanes of generation 3, in proportion to the "
                        "file's speed and width")
             : add_type(name + "-unstated", LinkKind::pcie, rate.gbps,
                        "NCCL's 12 GB/s for 16 lanes of generation 3; the file states no speed");
}

// A port of `parent` itself where `type` is below 0.
void NcclTree::add_nic(const std::string& name, int parent, int type, const Quantity& line) {
  const Quantity gbps{line.value * nic_efficiency, line.source + " x 0.97 effective", false};
  if (type < 0)
    type = add_type("nic-" + name, LinkKind::pcie, gbps.value,
                    "as the NIC, whose PCIe link the file does not state");
  const int vertex = add_vertex(name, VertexKind::nic);
  graph.links.push_back({vertex, parent, type, 1});
  nics.push_back({vertex, gbps, line});
}

void NcclTree::read_nets(const XmlAt& nic, int parent, int type, const PcieRate& rate) {
  const std::vector<XmlAt> nets = nic.children({"net", "gin", "rma"});
  for (const XmlAt& net : nets) {
    if (net.name() != "net") continue;  // other uses of the same port
    const std::string name = net.text("name");
    if (!net.has("speed")) {
      add_nic(name, parent, type, assumed_nic_speed(net, rate));
      continue;
    }
    const int megabits = net.whole("speed", 1, 100000000);
    add_nic(name, parent, type,
            {megabits / 8000.0, "assumed: " + std::to_string(megabits) + " Mb/s of " + net.place(),
             false});
  }
}

// NCCL uses the fastest kind alone.
void NcclTree::drop_slow_nics() {
  double fastest = 0;
  for (const Nic& nic : nics) fastest = std::max(fastest, nic.gbps.value);
  const auto slow = [&](const Nic& nic) { return nic.gbps.value < fastest / 2; };
  for (const Nic& nic : nics) {
    if (slow(nic)) left_out.push_back(graph.vertices[static_cast<std::size_t>(nic.vertex)].name);
  }
  std::erase_if(nics, slow);
}

// GPUs by NCCL's number, then the NICs that are left, then what joins them.
void NcclTree::order_devices() {
  std::stable_sort(gpus.begin(), gpus.end(),
                   [](const Gpu& a, const Gpu& b) { return a.dev < b.dev; });
  std::vector<int> place(graph.vertices.size(), -1);
  std::vector<Graph::Vertex> vertices;
  const auto keep = [&](int& vertex) {
    int& new_place = place[static_cast<std::size_t>(vertex)];
    new_place = static_cast<int>(vertices.size());
    vertices.push_back(graph.vertices[static_cast<std::size_t>(vertex)]);
    vertex = new_place;
  };
  for (Gpu& gpu : gpus) keep(gpu.vertex);
  for (Nic& nic : nics) keep(nic.vertex);
  for (int vertex = 0; vertex < static_cast<int>(graph.vertices.size()); ++vertex) {
    const VertexKind kind = graph.vertices[static_cast<std::size_t>(vertex)].kind;
    int moved = vertex;
    if (kind != VertexKind::gpu && kind != VertexKind::nic) keep(moved);
  }
  graph.vertices = std::move(vertices);
  std::erase_if(graph.links, [&](const Graph::Link& link) {
    return place[static_cast<std::size_t>(link.a)] < 0 ||
           place[static_cast<std::size_t>(link.b)] < 0;
  });
  for (Graph::Link& link : graph.links) {
    link.a = place[static_cast<std::size_t>(link.a)];
    link.b = place[static_cast<std::size_t>(link.b)];
  }
}

}  // namespace sym::models::detail
