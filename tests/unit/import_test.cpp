// Files of other simulators as machines: SimGrid platforms and ASTRA-sim networks.
#include <gtest/gtest.h>

#include "models/machine.hpp"
#include "models/readers.hpp"
#include "tests/unit/machine_checks.hpp"

namespace sym::models {
namespace {

const std::string three_hosts = R"(<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="world" routing="Full">
    <host id="a" speed="1Gf"/>
    <host id="b" speed="1Gf"/>
    <host id="c" speed="1Gf"><prop id="x" value="y"/></host>
    <link id="one" bandwidth="100Gbps" latency="1us" sharing_policy="SPLITDUPLEX"/>
    <link id="two" bandwidth="2GBps" latency="500ns"/>
    <link id="wide" bandwidth="1GBps" latency="0" sharing_policy="FATPIPE"/>
    <route src="a" dst="b"><link_ctn id="one" direction="UP"/><link_ctn id="two"/></route>
    <route src="b" dst="c"><link_ctn id="two"/></route>
    <route src="a" dst="c" symmetrical="NO"><link_ctn id="wide"/></route>
    <route src="c" dst="a" symmetrical="NO"><link_ctn id="one" direction="DOWN"/></route>
  </zone>
</platform>
)";

class SimgridXml : public testing::Test {
 protected:
  void SetUp() override {
    if (!detail::have_xml()) GTEST_SKIP() << "this build has no pugixml";
  }
};

Machine parse_xml(const std::string& text) { return detail::parse_xml(text, "p.xml"); }

std::vector<std::string> route(const Machine& machine, int from, int to) {
  for (const FabricShape::Route& one : machine.shape.routes) {
    if (one.from != from || one.to != to) continue;
    std::vector<std::string> names;
    for (const int link : one.links)
      names.push_back(machine.shape.links.at(static_cast<std::size_t>(link)).name);
    return names;
  }
  return {"none"};
}

using Names = std::vector<std::string>;

TEST_F(SimgridXml, HostsAreNodesAndRoutesAreTheFabric) {
  const Machine machine = parse_xml(three_hosts);
  EXPECT_EQ(machine.nodes, 3);
  EXPECT_EQ(machine.pes(), 3);
  EXPECT_EQ(machine.fabric, "routes");
  EXPECT_EQ(route(machine, 0, 1), (Names{"one", "two"}));
  EXPECT_EQ(route(machine, 1, 0), (Names{"two", "one_down"}));
  EXPECT_EQ(route(machine, 0, 2), (Names{"wide"}));
  EXPECT_EQ(route(machine, 2, 0), (Names{"one_down"}));
  EXPECT_DOUBLE_EQ(machine.shape.links.at(0).gbps.value, 12.5);
  EXPECT_DOUBLE_EQ(machine.shape.links.at(2).latency_us.value, 0.5);
  EXPECT_EQ(machine.shape.links.at(2).gbps.source, "assumed: p.xml:9");
  EXPECT_TRUE(machine.shape.links.at(3).per_flow);
  EXPECT_DOUBLE_EQ(machine.number("nic_gbps"), 12.5);
  expect_equal(parse_machine_json(to_json(machine), "again"), machine);
}

TEST_F(SimgridXml, ClustersAndZonesThatMeetInGateways) {
  const Machine machine = parse_xml(R"(<platform version="4">
    <AS id="top" routing="Full">
      <cluster id="c" prefix="n" suffix="" radical="0-1,5" speed="1f" bw="10GBps" lat="1us"
               bb_bw="40GBps" bb_lat="2us" router_id="r"/>
      <AS id="g" routing="Dijkstra">
        <host id="x" speed="1f"/><host id="y" speed="1f"/>
        <link id="xy" bandwidth="1GBps" latency="1us"/>
        <route src="x" dst="y"><link_ctn id="xy"/></route>
      </AS>
      <link id="wan" bandwidth="1GBps" latency="1ms"/>
      <ASroute src="c" dst="g" gw_src="r" gw_dst="x"><link_ctn id="wan"/></ASroute>
    </AS></platform>)");
  EXPECT_EQ(machine.nodes, 5);
  EXPECT_EQ(route(machine, 0, 2), (Names{"n0_link", "c_backbone", "n5_link_down"}));
  EXPECT_EQ(route(machine, 1, 4), (Names{"n1_link", "c_backbone", "wan", "xy"}));
  EXPECT_EQ(route(machine, 4, 1), (Names{"xy", "wan", "c_backbone", "n1_link_down"}));
}

TEST_F(SimgridXml, WhatDoesNotFitIsRefusedWithItsLine) {
  const auto refused = [](const std::string& find, const std::string& replacement) {
    std::string text = three_hosts;
    const std::size_t at = text.find(find);
    EXPECT_NE(at, std::string::npos) << find;
    return refusal([&] { parse_xml(text.replace(at, find.size(), replacement)); });
  };
  EXPECT_PRED2(contains, refused("100Gbps", "0Gbps"), "p.xml:8: <link> has bandwidth=\"0Gbps\"");
  EXPECT_PRED2(contains, refused("100Gbps", "-1Gbps"), "p.xml:8: ");
  EXPECT_PRED2(contains, refused("100Gbps", "100Gxps"), "GBps");
  EXPECT_PRED2(contains, refused("bandwidth=\"100Gbps\"", ""), "lacks the attribute bandwidth");
  EXPECT_PRED2(contains, refused("\"Full\"", "\"Vivaldi\""), "p.xml:4: <zone> has routing");
  EXPECT_PRED2(contains, refused("dst=\"b\"", "dst=\"d\""), "no host or router is");
  EXPECT_PRED2(contains, refused("<link_ctn id=\"wide\"", "<link_ctn id=\"wade\""), "p.xml:13: ");
  EXPECT_PRED2(contains, refused("<route src=\"b\"", "<rout src=\"b\""), "p.xml:12: ");
  EXPECT_PRED2(contains, refused("id=\"b\" speed", "id=\"a\" speed"), "given twice");
  EXPECT_PRED2(contains, refused("FATPIPE", "THIN"), "SPLITDUPLEX");
  EXPECT_PRED2(contains, refusal([] {
                 parse_xml(R"(<platform><zone id="z" routing="Full"><host id="a"/><host id="b"/>
                              </zone></platform>)");
               }),
               "joins no way from host a to host b");
  EXPECT_PRED2(contains, refusal([] {
                 parse_xml(R"(<platform><cluster id="c" radical="0-3" bw="1GBps" lat="0"
                              topology="DRAGONFLY"/></platform>)");
               }),
               "FLAT is accepted");
}

const std::string two_dimensions =
    "# inside, then between\n"
    "topology: [ Switch, Ring ]\n"
    "npus_count: [ 8, 4 ]\n"
    "bandwidth: [ 400.0, 50.0 ]  # GB/s\n"
    "latency:\n- 936.25\n- 2000\n";

TEST(AstraNetwork, FirstDimensionIsANodeAndTheOthersAreAGrid) {
  const Machine machine = detail::parse_astra_network(two_dimensions, "n.yml");
  EXPECT_EQ(machine.gpus_per_node, 8);
  EXPECT_EQ(machine.nodes, 4);
  EXPECT_EQ(machine.fabric, "grid");
  EXPECT_EQ(machine.nic_of_gpu, (std::vector{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_DOUBLE_EQ(machine.number("port_gbps"), 400);
  EXPECT_DOUBLE_EQ(machine.number("nic_gbps"), 100);  // two links of a ring
  ASSERT_EQ(machine.shape.dimensions.size(), 1U);
  EXPECT_EQ(machine.shape.dimensions[0].form, "ring");
  EXPECT_DOUBLE_EQ(machine.shape.dimensions[0].latency_us.value, 2);
  EXPECT_EQ(machine.shape.dimensions[0].latency_us.source, "assumed: n.yml:7");
  EXPECT_DOUBLE_EQ(machine.graph.types[0].latency_us.value, 0.93625);
  expect_equal(parse_machine_json(to_json(machine), "again"), machine);
}

TEST(AstraNetwork, OneDimensionIsOneNode) {
  const auto parse = [](const std::string& form) {
    return detail::parse_astra_network(
        "topology: [" + form + "]\nnpus_count: [4]\nbandwidth: [50]\nlatency: [0]\n", "n.yml");
  };
  EXPECT_EQ(parse("Ring").fabric, "none");
  EXPECT_EQ(parse("Ring").graph.links.size(), 4U);
  EXPECT_EQ(path_between(parse("Ring").graph, 0, 2)->size(), 2U);
  EXPECT_DOUBLE_EQ(parse("Ring").number("port_gbps"), 100);
  EXPECT_EQ(parse("FullyConnected").graph.links.size(), 6U);
  EXPECT_DOUBLE_EQ(parse("FullyConnected").number("port_gbps"), 150);
  EXPECT_EQ(parse("\"Switch\"").graph.links.size(), 4U);
}

TEST(AstraNetwork, WhatDoesNotFitIsRefusedWithItsLine) {
  const auto refused = [](const std::string& find, const std::string& replacement) {
    std::string text = two_dimensions;
    const std::size_t at = text.find(find);
    EXPECT_NE(at, std::string::npos) << find;
    return refusal(
        [&] { detail::parse_astra_network(text.replace(at, find.size(), replacement), "n.yml"); });
  };
  EXPECT_PRED2(contains, refused("Switch", "Star"), "n.yml:2: topology has 'Star'");
  EXPECT_PRED2(contains, refused("8, 4", "8"), "n.yml:3: npus_count has 1 elements and topology 2");
  EXPECT_PRED2(contains, refused("8, 4", "8, 2.5"), "n.yml:3: npus_count has '2.5'");
  EXPECT_PRED2(contains, refused("400.0", "0"), "n.yml:4: bandwidth has '0'");
  EXPECT_PRED2(contains, refused("2000", "-1"), "n.yml:7: latency has '-1'");
  EXPECT_PRED2(contains, refused("latency", "latencies"), "nearest accepted key is 'latency'");
  EXPECT_PRED2(contains, refused("bandwidth: [ 400.0, 50.0 ]", ""), "lacks the key 'bandwidth'");
  EXPECT_PRED2(contains, refused("[ 8, 4 ]", "[ 8, 4"), "does not end in its line");
}

TEST(Fabrics, AreReadWrittenAndRefused) {
  const auto with = [](const std::string& fabric, const std::string& more = "") {
    return R"({"name": "m", "like": "dgx-h100", "nodes": 8, "gpus_per_node": 2, "nics_per_node": 2,
               "nic_of_gpu": [0, 1], "fabric": )" +
           fabric + R"(, "numbers": {)" + more + "}}";
  };
  const auto refused = [&](const std::string& fabric) {
    return refusal([&] { parse_machine_json(with(fabric), "m.json"); });
  };
  const std::string q = R"({"value": 10, "source": "assumed: test", "measured": false})";
  for (const std::string& fabric :
       {std::string(R"("rail")"),
        std::string(R"({"kind": "rail", "nodes_per_leaf": 4, "spine": false})"),
        std::string(R"({"kind": "fat-tree", "nodes_per_leaf": 2, "leaves_per_pod": 2})"),
        R"({"kind": "grid", "dimensions": [{"form": "ring", "size": 2, "gbps": )" + q +
            R"(, "latency_us": )" + q + R"(}, {"form": "full", "size": 4, "gbps": )" + q +
            R"(, "latency_us": )" + q + "}]}"}) {
    const Machine machine = parse_machine_json(with(fabric), "m.json");
    expect_equal(parse_machine_json(to_json(machine), "again"), machine);
  }
  EXPECT_PRED2(contains, refused(R"({"kind": "fat-tree", "node_per_leaf": 2})"),
               "'nodes_per_leaf'");
  EXPECT_PRED2(contains, refused(R"({"kind": "dragonfly"})"), "lacks the key 'global_gbps'");
  EXPECT_PRED2(contains, refused(R"({"kind": "fat-tree", "nodes_per_leaf": -1})"),
               "nodes_per_leaf is -1");
  EXPECT_PRED2(contains, refused(R"("grid")"), "an object is accepted");
  EXPECT_PRED2(contains,
               refused(R"({"kind": "grid", "dimensions": [{"form": "ring", "size": 3, "gbps": )" +
                       q + R"(, "latency_us": )" + q + "}]}"),
               "makes 3 nodes but the machine has 8");
  EXPECT_PRED2(contains, refused(R"("fat_tree")"), "\"fat-tree\"");
  // What a fabric needs and the file does not state is printed as assumed.
  const Machine plain = parse_machine_json(with(R"("fat-tree")"), "m.json");
  EXPECT_FALSE(plain.numbers.at("leaf_oversubscription").measured);
  EXPECT_PRED2(contains, to_text(plain), "leaf_oversubscription");
}

}  // namespace
}  // namespace sym::models
