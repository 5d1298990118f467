// NCCL's topology XML: the real samples where the shared folder is there, and small files of our
// own.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "models/machine.hpp"
#include "models/readers.hpp"
#include "tests/unit/machine_checks.hpp"

#ifndef SYM_SHARED_DIR
#define SYM_SHARED_DIR "../shared"
#endif

namespace sym::models {
namespace {

class NcclXml : public testing::Test {
 protected:
  void SetUp() override {
    if (!detail::have_xml()) GTEST_SKIP() << "this build has no pugixml";
  }
};

struct XmlSample {
  const char* file;
  int gpus;
  int lanes;  // of GPU 0, NVLink or xGMI, all peers together
  int nics;
  double nic_gbps;  // of one, as the file says or what suits its PCIe link
  std::vector<int> nic_of_gpu;
};

const std::vector<XmlSample>& xml_samples() {
  static const std::vector<XmlSample> all = {
      {"nccl-aws-g5-8xa10g-pcie.xml", 8, 0, 1, 12.125, {0, 0, 0, 0, 0, 0, 0, 0}},
      {"nccl-aws-p4d-8xa100.xml", 8, 0, 4, 12.125, {0, 0, 1, 1, 2, 2, 3, 3}},
      {"nccl-azure-ncv4-4xa100pcie.xml", 4, 0, 1, 12.125, {0, 0, 0, 0}},
      {"nccl-azure-ndv2-8xv100.xml", 8, 0, 1, 24.25, {0, 0, 0, 0, 0, 0, 0, 0}},
      {"nccl-azure-ndv4-8xa100.xml", 8, 0, 8, 24.25, {0, 1, 2, 3, 4, 5, 6, 7}},
      {"nccl-azure-ndv5-8xh100.xml", 8, 0, 8, 48.5, {0, 1, 2, 3, 4, 5, 6, 7}},
      {"rccl-8p-gfx90a.xml", 8, 3, 1, 0.12125, {0, 0, 0, 0, 0, 0, 0, 0}},
      {"rccl-8p-gfx940.xml", 8, 7, 8, 48.5, {0, 1, 2, 3, 4, 5, 6, 7}},
  };
  return all;
}

int lanes_of_first_gpu(const Graph& graph) {
  int lanes = 0;
  for (const Graph::Link& link : graph.links) {
    const LinkKind kind = graph.type(link).kind;
    if ((link.a == 0 || link.b == 0) && (kind == LinkKind::nvlink || kind == LinkKind::xgmi))
      lanes += link.lanes;
  }
  return lanes;
}

TEST_F(NcclXml, EachSampleIsReadAsStated) {
  const std::filesystem::path folder = std::filesystem::path(SYM_SHARED_DIR) / "topo";
  if (!std::filesystem::is_directory(folder)) GTEST_SKIP() << "no samples at " << folder;
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    files += entry.path().extension() == ".xml" ? 1 : 0;
  EXPECT_EQ(files, xml_samples().size() + 1) << "a sample without an expectation, or the reverse";
  for (const XmlSample& sample : xml_samples()) {
    SCOPED_TRACE(sample.file);
    const Machine machine = load_machine((folder / sample.file).string());
    EXPECT_EQ(machine.gpus_per_node, sample.gpus);
    EXPECT_EQ(lanes_of_first_gpu(machine.graph), sample.lanes);
    EXPECT_EQ(machine.nics_per_node, sample.nics);
    EXPECT_NEAR(machine.number("nic_gbps"), sample.nic_gbps, 1e-9);
    EXPECT_EQ(machine.nic_of_gpu, sample.nic_of_gpu);
    expect_equal(parse_machine_json(to_json(machine), "again"), machine);
    for (const auto& [key, quantity] : machine.numbers)
      EXPECT_EQ(quantity.source.rfind("assumed: ", 0), 0U) << key;
  }
  const std::string graphs = (folder / "nccl-graph-azure-ncv4.xml").string();
  EXPECT_PRED2(contains, refusal([&] { load_machine(graphs); }), ":1: <graphs> holds the rings");
}

const std::string two_sockets = R"(<system version="1">
  <cpu numaid="0" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="143">
    <pci busid="0000:01:00.0" class="0x060400" link_speed="32.0 GT/s PCIe" link_width="16">
      <pci busid="0000:02:00.0" class="0x030200" link_speed="32.0 GT/s PCIe" link_width="16">
        <gpu dev="1" sm="90" rank="1" gdr="1">
          <nvlink target="0000:12:00.0" count="6" tclass="0x030200"/>
          <nvlink target="ffff:ff:ff" count="12" tclass="0x068000"/>
        </gpu>
      </pci>
      <pci busid="0000:03:00.0" class="0x020700" link_speed="32.0 GT/s PCIe" link_width="16">
        <nic><net name="mlx5_0" dev="0" speed="400000" port="1"/></nic>
      </pci>
    </pci>
  </cpu>
  <cpu numaid="1" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="143">
    <pci busid="0000:12:00.0" class="0x030200" link_speed="" link_width="0">
      <gpu dev="0" sm="90" rank="0" gdr="1">
        <nvlink target="0000:02:00.0" count="6" tclass="0x030200"/>
        <nvlink target="ffff:ff:ff" count="12" tclass="0x068000"/>
      </gpu>
    </pci>
    <nic><net name="eth0" dev="1" speed="10000" port="1"/></nic>
  </cpu>
</system>
)";

Machine parse(const std::string& text) { return detail::parse_xml(text, "t.xml"); }

std::string refused_xml(const std::string& find, const std::string& replacement) {
  std::string text = two_sockets;
  const std::size_t at = text.find(find);
  EXPECT_NE(at, std::string::npos) << find;
  return refusal([&] { parse(text.replace(at, find.size(), replacement)); });
}

TEST_F(NcclXml, GpusAreInNcclsOrderAndTheirLanesAndTreeAreKept) {
  const Machine machine = parse(two_sockets);
  const Graph& graph = machine.graph;
  EXPECT_EQ(graph.vertices[0].name, "0000:12:00.0");  // dev 0
  EXPECT_EQ(lanes_of_first_gpu(graph), 18);
  EXPECT_EQ(path_between(graph, 0, 1)->size(), 1U);
  EXPECT_DOUBLE_EQ(hop_gbps(graph, path_between(graph, 0, 1)->front()), 6 * 20.6);
  EXPECT_DOUBLE_EQ(machine.number("port_gbps"), load_machine("dgx-h100").number("port_gbps"));
  // The slow NIC is left out and said so; the other is far from GPU 0 and near GPU 1.
  EXPECT_EQ(machine.nics_per_node, 1);
  EXPECT_PRED2(contains, machine.description, "eth0 is left out");
  const int nic = graph.all(VertexKind::nic).at(0);
  EXPECT_EQ(path_between(graph, 1, nic)->size(), 2U);
  EXPECT_EQ(path_between(graph, 0, nic)->size(), 5U);
  EXPECT_DOUBLE_EQ(hop_gbps(graph, path_between(graph, 0, nic)->front()), 12);  // not stated
}

TEST_F(NcclXml, WhatIsMissingIsMarkedAsAssumed) {
  const Machine machine = parse(two_sockets);
  for (const LinkType& type : machine.graph.types) {
    EXPECT_EQ(type.gbps.source.rfind("assumed: ", 0), 0U) << type.name;
    EXPECT_FALSE(type.gbps.measured);
  }
  EXPECT_PRED2(contains, to_text(machine), "the file states no speed");
  EXPECT_PRED2(contains, to_text(machine), "400000 Mb/s of t.xml:11 x 0.97");
}

TEST_F(NcclXml, CapabilityAndLineRateAreTheFiles) {
  std::string text = two_sockets;
  for (const auto& [from, to] :
       {std::pair{"sm=\"90\" rank=\"1\"", "sm=\"80\" rank=\"1\""},
        std::pair{"sm=\"90\" rank=\"0\"", "sm=\"80\" rank=\"0\""}, std::pair{"400000", "200000"}})
    text.replace(text.find(from), std::string(from).size(), to);
  const Machine machine = parse(text);
  EXPECT_DOUBLE_EQ(machine.number("compute_capability"), 80);
  EXPECT_EQ(machine.numbers.at("compute_capability").source, "assumed: as t.xml:17 says");
  EXPECT_DOUBLE_EQ(machine.number("nic_line_gbps"), 25);
  EXPECT_DOUBLE_EQ(machine.number("nic_gbps"), 24.25);
  EXPECT_DOUBLE_EQ(parse(two_sockets).number("compute_capability"), 90);
  const Machine bare = parse(R"(<system version="1"><cpu numaid="0">
    <pci busid="0000:02:00.0" class="0x030200"/></cpu></system>)");
  EXPECT_EQ(bare.numbers.at("compute_capability").source, "assumed: as dgx-h100");
}

TEST_F(NcclXml, DevicesWithoutClassAreSortedByTheirRuns) {
  const auto system = [](const std::string& devices) {
    std::string text = R"(<system version="1"><cpu numaid="0">)";
    for (const char device : devices)
      text += std::string(R"(<pci busid="0000:00:1)") + device + ".0\"/>";
    return text + "</cpu></system>";
  };
  const Machine machine = parse(system("abc5"));
  EXPECT_EQ(machine.gpus_per_node, 3);
  EXPECT_EQ(machine.nics_per_node, 1);
  EXPECT_PRED2(contains, machine.description, "assumed: runs of 3");
  EXPECT_PRED2(contains, refusal([&] { parse(system("a8c5")); }), "states no class");
}

TEST_F(NcclXml, WhatDoesNotFitIsRefusedWithItsLine) {
  EXPECT_PRED2(contains, refused_xml("0000:12:00.0\" count", "0000:13:00.0\" count"),
               "t.xml:6: <nvlink> has target 0000:13:00.0");
  EXPECT_PRED2(contains, refused_xml("count=\"6\"", "count=\"5\""), "do not come back");
  EXPECT_PRED2(contains, refused_xml("count=\"6\"", ""),
               "t.xml:6: <nvlink> lacks the attribute count");
  EXPECT_PRED2(contains, refused_xml("count=\"6\"", "count=\"-6\""), "from 1 to 1024");
  EXPECT_PRED2(contains, refused_xml("busid=\"0000:03:00.0\"", "busid=\"0000:01:00.0\""),
               "t.xml:10: <pci> has busid 0000:01:00.0, which is given twice");
  EXPECT_PRED2(contains, refused_xml("busid=\"0000:03:00.0\"", ""), "t.xml:10: <pci> lacks");
  EXPECT_PRED2(contains, refused_xml("speed=\"400000\"", "speed=\"0\""),
               "t.xml:11: <net> has speed=\"0\"");
  const std::string fast = "link_speed=\"32.0 GT/s PCIe\"";
  for (const char* bad : {"0 GT/s", "-16 GT/s", "nan", "1e9"}) {
    EXPECT_PRED2(contains, refused_xml(fast, std::string("link_speed=\"") + bad + "\""),
                 std::string("t.xml:3: <pci> has link_speed=\"") + bad + "\"; a number")
        << bad;
  }
  EXPECT_EQ(refused_xml(fast, "link_speed=\"Unknown\""), "");  // as drivers show it: not stated
  EXPECT_PRED2(contains, refused_xml(fast + " link_width=\"16\"", fast + " link_width=\"-16\""),
               "t.xml:3: <pci> has link_width=\"-16\"");
  EXPECT_PRED2(contains, refused_xml(fast + " link_width=\"16\"", fast + " link_width=\"0\""),
               "t.xml:3: <pci> has link_width=\"0\" beside");
  EXPECT_PRED2(contains, refused_xml("<nvlink", "<nvlnk"), "nearest accepted element is <nvlink>");
  EXPECT_PRED2(
      contains, refusal([] {
        parse(R"(<system><cpu numaid="0"><pci busid="a" class="0x010802"/></cpu></system>)");
      }),
      "unknown class 0x010802");
  EXPECT_PRED2(contains, refused_xml("</cpu>", ""), "t.xml:");
  EXPECT_PRED2(contains, refusal([] { parse("<system version=\"1\"/>"); }), "has no <cpu>");
  EXPECT_PRED2(contains, refusal([] { parse("<system><cpu numaid=\"0\"/></system>"); }),
               "has no GPU");
  EXPECT_PRED2(contains, refusal([] { parse("<machine/>"); }), "t.xml:1: <machine> is unknown");
}

}  // namespace
}  // namespace sym::models
