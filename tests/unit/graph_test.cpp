// The wiring of a node: ways through it, what is refused, and what pairs and classes come to.
#include "models/graph.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "models/machine.hpp"
#include "models/machine_detail.hpp"
#include "tests/unit/machine_checks.hpp"

namespace sym::models {
namespace {

const std::vector<int>& lanes_of_dgx1() {
  static const std::vector<int> row_sums = [] {
    const Graph graph = node_graph(load_machine("dgx1-v100"));
    std::vector<int> sums(8, 0);
    for (const Graph::Link& link : graph.links) {
      if (graph.type(link).kind != LinkKind::nvlink) continue;
      sums[static_cast<std::size_t>(link.a)] += link.lanes;
      sums[static_cast<std::size_t>(link.b)] += link.lanes;
    }
    return sums;
  }();
  return row_sums;
}

LinkClass class_between(const Machine& machine, int a, int b) {
  const Graph graph = node_graph(machine);
  const std::vector<int> gpus = graph.all(VertexKind::gpu);
  const auto path = path_between(graph, gpus.at(static_cast<std::size_t>(a)),
                                 gpus.at(static_cast<std::size_t>(b)));
  EXPECT_TRUE(path) << a << ' ' << b;
  return path ? detail::class_of(graph, *path) : LinkClass::self;
}

TEST(Graph, SwitchNodesJoinEachPairInTwoHopsAtThePortsRate) {
  for (const char* name : {"dgx-a100", "dgx-h100", "dgx-h200", "hgx-b200", "gb200-nvl72"}) {
    SCOPED_TRACE(name);
    const Machine machine = load_machine(name);
    const Graph graph = node_graph(machine);
    EXPECT_EQ(wiring_fault(graph), "");
    const auto path = path_between(graph, 0, machine.gpus_per_node - 1);
    ASSERT_TRUE(path);
    EXPECT_EQ(path->size(), 2U);
    for (const Hop hop : *path) EXPECT_DOUBLE_EQ(hop_gbps(graph, hop), machine.number("port_gbps"));
    EXPECT_EQ(nearest_nics(graph), machine.nic_of_gpu);
  }
}

TEST(Graph, CubeMeshGoesByPcieWhereNoLaneJoins) {
  const Machine machine = load_machine("dgx1-v100");
  EXPECT_EQ(lanes_of_dgx1(), std::vector<int>(8, 6));
  EXPECT_EQ(class_between(machine, 0, 4), LinkClass::nvlink);
  EXPECT_EQ(class_between(machine, 0, 5), LinkClass::sys);  // no V100 passes NVLink traffic on
  EXPECT_EQ(machine.nic_of_gpu, (std::vector{0, 0, 1, 1, 2, 2, 3, 3}));
}

TEST(Graph, InfinityFabricPassesOnAndPcieBoxesShareTheirUplinks) {
  EXPECT_EQ(class_between(load_machine("mi300x"), 3, 6), LinkClass::nvlink);
  const Graph mesh = node_graph(load_machine("mi250-mesh"));
  EXPECT_EQ(path_between(mesh, 0, 1)->size(), 1U);
  EXPECT_EQ(path_between(mesh, 0, 7)->size(), 2U);
  EXPECT_EQ(
      mesh.type(mesh.links[static_cast<std::size_t>(path_between(mesh, 0, 7)->front() / 2)]).kind,
      LinkKind::xgmi);
  const Machine box = load_machine("pcie-8xa100");
  EXPECT_EQ(class_between(box, 0, 1), LinkClass::pix);
  EXPECT_EQ(class_between(box, 0, 2), LinkClass::phb);
  EXPECT_EQ(class_between(box, 0, 4), LinkClass::sys);
  EXPECT_EQ(box.nic_of_gpu, (std::vector{0, 0, 1, 1, 2, 2, 3, 3}));
}

// Every pair of a matrix meets in the derived tree where the matrix says.
TEST(Graph, ClassesOfAMatrixComeBackFromItsTree) {
  const Machine machine = parse_topology_text(
      "GPU0 GPU1 GPU2 GPU3 GPU4 NIC0 NIC1\n"
      "GPU0 X PIX PXB NODE SYS PHB SYS\n"
      "GPU1 PIX X PXB NODE SYS PHB SYS\n"
      "GPU2 PXB PXB X NODE SYS PHB SYS\n"
      "GPU3 NODE NODE NODE X SYS NODE SYS\n"
      "GPU4 SYS SYS SYS SYS X SYS PIX\n",
      "box.txt");
  for (int a = 0; a < machine.gpus_per_node; ++a) {
    for (int b = 0; b < machine.gpus_per_node; ++b) {
      if (a == b) continue;
      EXPECT_EQ(class_between(machine, a, b), detail::pair_class_of(machine, a, b))
          << a << ' ' << b;
    }
  }
  const Graph graph = node_graph(machine);
  EXPECT_EQ(wiring_fault(graph), "");
  EXPECT_EQ(nearest_nics(graph), (std::vector{0, 0, 0, 0, 1}));
}

TEST(Graph, LanesOfADirectMeshAreTheirPairsShareOfThePort) {
  const Machine machine = parse_topology_text(
      "GPU0 GPU1 GPU2\nGPU0 X NV4 NV8\nGPU1 NV4 X NV4\nGPU2 NV8 NV4 X\n", "t.txt");
  const Graph graph = node_graph(machine);
  const double port = machine.number("port_gbps");
  EXPECT_NEAR(hop_gbps(graph, path_between(graph, 0, 2)->front()), port * 8 / 12, 1e-9);
  EXPECT_NEAR(hop_gbps(graph, path_between(graph, 0, 1)->front()), port * 4 / 12, 1e-9);
}

// A JSON machine with this graph; `types` and `links` as they stand in the file.
std::string refused_graph(const std::string& vertices, const std::string& links,
                          const std::string& kind = "pcie", const std::string& gbps = "24") {
  return refusal([&] {
    parse_machine_json(
        R"({"name": "m", "like": "dgx-h100", "numbers": {}, "graph": {"vertices": [)" + vertices +
            R"(], "types": [{"name": "t", "kind": ")" + kind + R"(", "gbps": {"value": )" + gbps +
            R"(, "source": "assumed: test", "measured": false}}], "links": [)" + links + "]}}",
        "m.json");
  });
}

TEST(Graph, BadWiringIsRefusedWithWhatAndWhere) {
  const std::string two = R"(["a", "gpu"], ["b", "gpu"])";
  EXPECT_EQ(refused_graph(two, R"(["a", "b", "t"])"), "");
  EXPECT_PRED2(contains, refused_graph(two, ""), "no way joins 'a' and 'b'");
  EXPECT_PRED2(contains, refused_graph(two, R"(["a", "b", "t"], ["b", "a", "t"])"),
               "closes a cycle of PCIe links");
  EXPECT_PRED2(contains, refused_graph(two, R"(["a", "a", "t"])"), "has one end");
  EXPECT_PRED2(contains, refused_graph(two, R"(["a", "c", "t"])"), "links[0][1] is \"c\"");
  EXPECT_PRED2(contains, refused_graph(two, R"(["a", "b", "u"])"), "no type of link");
  EXPECT_PRED2(contains, refused_graph(two, R"(["a", "b", "t", 0])"), "from 1 to 1024");
  EXPECT_PRED2(contains, refused_graph(two, R"(["a", "b", "t"])", "nvlnk"), "\"nvlink\"");
  for (const char* bad : {"0", "-3", "null"})
    EXPECT_PRED2(contains, refused_graph(two, R"(["a", "b", "t"])", "pcie", bad), "above 0") << bad;
  EXPECT_PRED2(contains, refused_graph(R"(["a", "gpu"], ["a", "gpu"])", ""), "given twice");
  EXPECT_PRED2(contains, refused_graph(R"(["a", "gpoo"])", ""), "\"gpu\"");
  EXPECT_PRED2(contains, refused_graph(R"(["a", "nic"])", ""), "0 vertices of kind gpu");
}

TEST(Graph, LikeTakesNumbersAndSaysFromWhom) {
  const Machine machine = load_machine("dgx-a100");
  EXPECT_EQ(machine.numbers.at("launch_us").source, "assumed: as dgx-h100");
  EXPECT_EQ(machine.number("launch_us"), load_machine("dgx-h100").number("launch_us"));
  EXPECT_DOUBLE_EQ(machine.number("nic_gbps"), 24.25);
  EXPECT_PRED2(contains, refusal([] {
                 parse_machine_json(R"({"name": "m", "like": "dgx-h101", "gpus_per_node": 1})",
                                    "m");
               }),
               "\"dgx-h100\"");
}

}  // namespace
}  // namespace sym::models
