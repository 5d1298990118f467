// The links of a machine: what shares what, closed forms of each fabric, and that links left out
// change nothing.
#include "sim/platform.hpp"

#include <gtest/gtest.h>

#include <random>

#include "core/error.hpp"
#include "sim/run.hpp"
#include "tests/unit/network_scenarios.hpp"

namespace sym::sim {
namespace {

using models::load_machine;
using models::Machine;

struct Send {
  int from, to;
  double bytes = 1e9;
};

Scenario scenario_of(const Platform& platform, const std::vector<Send>& sends) {
  Scenario scenario{platform.link_bytes_per_s(), {}, {}, 1};
  for (const Send& send : sends) {
    const Route route = platform.route(send.from, send.to);
    scenario.timed.push_back(
        {0, {scenario.timed.size(), route.links, send.bytes, route.rate_cap_bytes_per_s}});
  }
  return scenario;
}

// GB/s of each of the sends, all of one size, which start together and should end together.
double rate_gbps(const Machine& machine, const std::vector<Send>& sends) {
  const Platform platform(machine, machine.pes());
  const Ends ends = ask_oracle(scenario_of(platform, sends));
  for (const auto& [id, time] : ends) EXPECT_NEAR(time, ends.at(0), 1e-9 * time) << id;
  return sends[0].bytes / ends.at(0) / 1e9;
}

Machine with(const std::string& name, const std::string& key, double value) {
  Machine machine = load_machine(name);
  machine.numbers[key] = {value, "assumed: test", false};
  return machine;
}

TEST(Platform, PcieSwitchesAndSocketsAreSharedLinks) {
  const Machine box = load_machine("pcie-8xa100");
  EXPECT_NEAR(rate_gbps(box, {{0, 1}}), 24, 1e-9);
  EXPECT_NEAR(rate_gbps(box, {{0, 1}, {1, 0}, {2, 3}}), 24, 1e-9);  // each switch by itself
  EXPECT_NEAR(rate_gbps(box, {{0, 2}}), 24, 1e-9);
  EXPECT_NEAR(rate_gbps(box, {{0, 2}, {1, 3}}), 12, 1e-9);  // one uplink
  EXPECT_NEAR(rate_gbps(box, {{0, 2}, {2, 0}}), 24, 1e-9);  // which is full duplex
  EXPECT_NEAR(rate_gbps(box, {{0, 4}}), 22, 1e-9);
  EXPECT_NEAR(rate_gbps(box, {{0, 4}, {2, 6}}), 11, 1e-9);  // the sockets' link
  EXPECT_NEAR(rate_gbps(box, {{0, 4}, {4, 0}}), 22, 1e-9);
}

TEST(Platform, LanesOfAMeshBelongToTheirPair) {
  const Machine cube = load_machine("dgx1-v100");
  EXPECT_NEAR(rate_gbps(cube, {{0, 1}}), 20, 1e-9);
  EXPECT_NEAR(rate_gbps(cube, {{0, 3}}), 40, 1e-9);
  EXPECT_NEAR(rate_gbps(cube, {{0, 1}, {0, 1}}), 10, 1e-9);
  EXPECT_NEAR(rate_gbps(cube, {{0, 5}}), 6, 1e-9);  // no lane: between the sockets
  const Machine mesh = load_machine("mi250-mesh");
  EXPECT_NEAR(rate_gbps(mesh, {{0, 1}, {0, 2}}), 36, 1e-9);
  EXPECT_NEAR(rate_gbps(mesh, {{0, 1}, {0, 3}}), 18, 1e-9);  // to 3 by way of 1
}

TEST(Platform, SwitchPortsAndASharedNic) {
  const Machine node = load_machine("dgx-h100");
  const double port = node.number("port_gbps");
  EXPECT_NEAR(rate_gbps(node, {{0, 1}, {2, 3}}), port, 1e-9);
  EXPECT_NEAR(rate_gbps(node, {{0, 1}, {0, 2}, {0, 3}}), port / 3, 1e-9);
  EXPECT_NEAR(rate_gbps(node, {{1, 0}, {2, 0}}), port / 2, 1e-9);
  const Machine single = load_machine("hgx-h200-1nic*2");
  std::vector<Send> all;
  for (int gpu = 0; gpu < 8; ++gpu) all.push_back({gpu, 8 + gpu});
  EXPECT_NEAR(rate_gbps(single, all), single.number("nic_gbps") / 8, 1e-9);
}

// All NICs of leaf 0 send to those of leaf 1.
TEST(Fabric, OverSubscribedUplinksDivideTheNics) {
  Machine tree = load_machine("dgx-h100-fat-tree*8");
  const double nic = tree.number("nic_gbps");
  std::vector<Send> across;
  std::vector<Send> inside;
  for (int pe = 0; pe < 32; ++pe) {
    across.push_back({pe, 32 + pe});
    inside.push_back({pe, (pe + 8) % 32});
  }
  EXPECT_NEAR(rate_gbps(tree, inside), nic, 1e-9);
  EXPECT_NEAR(rate_gbps(tree, across), nic / 2, 1e-9);
  EXPECT_NEAR(rate_gbps(tree, {across.begin(), across.begin() + 16}), nic, 1e-9);
  tree.numbers.at("leaf_oversubscription").value = 8;
  EXPECT_NEAR(rate_gbps(tree, across), nic / 8, 1e-9);
  // A core above pods of one leaf, itself over-subscribed, halves it once more.
  tree.shape.leaves_per_pod = 1;
  tree.numbers["pod_oversubscription"] = {2, "assumed: test", false};
  EXPECT_NEAR(rate_gbps(tree, across), nic / 16, 1e-9);
}

TEST(Fabric, RailsMeetInTheirSpineOrNowhere) {
  Machine pod = load_machine("dgx-h100-pod*4");
  pod.shape.nodes_per_leaf = 2;
  const double nic = pod.number("nic_gbps");
  const double hop_s = pod.number("fabric_hop_us") * 1e-6;
  const Platform platform(pod, 32);
  EXPECT_EQ(platform.route(0, 8).latency_s, 0);                  // one leaf
  EXPECT_DOUBLE_EQ(platform.route(0, 9).latency_s, 2 * hop_s);   // spine
  EXPECT_DOUBLE_EQ(platform.route(0, 24).latency_s, 4 * hop_s);  // core
  pod.numbers["leaf_oversubscription"].value = 4;
  EXPECT_NEAR(rate_gbps(pod, {{0, 8}, {8, 0}}), nic, 1e-9);
  EXPECT_NEAR(rate_gbps(pod, {{0, 9}, {8, 1}}), nic / 4, 1e-9);  // two NICs up one leaf
  pod.shape.spine = false;
  const Platform alone(pod, 32);
  EXPECT_FALSE(alone.route(0, 8).links.empty());
  EXPECT_THROW(alone.route(0, 9), UsageError);
  EXPECT_THROW(alone.route(0, 16), UsageError);
}

TEST(Fabric, DragonflyGroupsShareOneLink) {
  const Machine dragonfly = load_machine("a100x4-dragonfly*192");  // 3 groups of 64 nodes
  const double nic = 24;                                           // PCIe limits it
  EXPECT_NEAR(rate_gbps(dragonfly, {{0, 4}}), nic, 1e-9);          // one router
  std::vector<Send> routers;                                       // 16 NICs to the next router
  std::vector<Send> groups;
  for (int pe = 0; pe < 16; ++pe) {
    routers.push_back({pe, 16 + pe});
    groups.push_back({pe, 256 + pe});
  }
  EXPECT_NEAR(rate_gbps(dragonfly, routers), 48.5 / 16, 1e-9);
  // Router 0 holds the link to group 1, and router 1 of group 1 the one back: its local link
  // limits.
  EXPECT_NEAR(rate_gbps(dragonfly, groups), 48.5 / 16, 1e-9);
  const Platform platform(dragonfly, dragonfly.pes());
  const double hop_s = dragonfly.number("fabric_hop_us") * 1e-6;
  EXPECT_DOUBLE_EQ(platform.route(0, 256).latency_s, 2 * hop_s);
  EXPECT_DOUBLE_EQ(platform.route(0, 16).latency_s, hop_s);
  EXPECT_EQ(platform.route(0, 4).latency_s, 0);
}

TEST(Fabric, TorusGoesTheShorterWayDimensionByDimension) {
  const Machine torus = load_machine("torus-4x4x4");
  const Platform platform(torus, 64);
  EXPECT_NEAR(rate_gbps(torus, {{0, 1}}), 48.5, 1e-9);
  EXPECT_NEAR(platform.route(0, 3).latency_s, 0.3e-6, 1e-15);  // round the end
  EXPECT_NEAR(platform.route(0, 2 + 4 * 1 + 16 * 3).latency_s, 4 * 0.3e-6, 1e-15);
  std::vector<Send> shift;
  for (int pe = 0; pe < 64; ++pe) shift.push_back({pe, (pe & ~3) | ((pe + 2) & 3)});
  EXPECT_NEAR(rate_gbps(torus, shift), 48.5 / 2, 1e-9);  // each link has two of them
}

TEST(Fabric, GridsKeepToRailsAndCrossThemInsideTheNode) {
  Machine machine = load_machine("dgx-h100*4");
  machine.fabric = "grid";
  machine.shape.dimensions = {
      {"switch", 4, {10, "assumed: test", false}, {1, "assumed: test", false}}};
  const Platform platform(machine, 32);
  EXPECT_NEAR(rate_gbps(machine, {{0, 8}, {1, 9}}), 10, 1e-9);
  EXPECT_NEAR(rate_gbps(machine, {{0, 8}, {1, 8}}), 5, 1e-9);  // 1 goes by way of GPU 0
  EXPECT_NEAR(platform.route(0, 8).latency_s, 2e-6, 1e-15);
}

TEST(Fabric, ListedRoutesCapEachFlowOrShare) {
  Machine machine = load_machine("torus-4x4x4");
  machine.nodes = 3;
  machine.fabric = "routes";
  machine.shape = {};
  const models::Quantity one{1, "assumed: test", false};
  machine.shape.links = {{"shared", {8, "t", false}, one, false},
                         {"each", {4, "t", false}, one, true}};
  machine.shape.routes = {{0, 1, {0}}, {1, 0, {0}}, {0, 2, {1}}};
  EXPECT_NEAR(rate_gbps(machine, {{0, 1}, {1, 0}}), 4, 1e-9);
  EXPECT_NEAR(rate_gbps(machine, {{0, 2}, {0, 2}}), 4, 1e-9);
  EXPECT_THROW(Platform(machine, 3).route(2, 0), UsageError);
}

std::vector<Send> random_sends(unsigned seed, int pes, int count) {
  std::mt19937 random(seed);
  std::vector<Send> sends;
  while (static_cast<int>(sends.size()) < count) {
    const int from = static_cast<int>(random() % static_cast<unsigned>(pes));
    const int to = static_cast<int>(random() % static_cast<unsigned>(pes));
    if (from != to) sends.push_back({from, to, 1e6 * static_cast<double>(1 + random() % 1000)});
  }
  return sends;
}

// Every wire and port of a node as a link, none left out.
Scenario whole_node(const Machine& machine, const std::vector<Send>& sends) {
  const models::Graph graph = models::node_graph(machine);
  Scenario scenario{{}, {}, {}, 1};
  const int hops = 2 * static_cast<int>(graph.links.size());
  for (int hop = 0; hop < hops; ++hop) scenario.links.push_back(models::hop_gbps(graph, hop) * 1e9);
  const int gpus = machine.gpus_per_node;
  scenario.links.resize(static_cast<std::size_t>(hops + 2 * gpus),
                        machine.number("port_gbps") * 1e9);
  const std::vector<int> at = graph.all(models::VertexKind::gpu);
  for (const Send& send : sends) {
    const auto path = models::path_between(graph, at[static_cast<std::size_t>(send.from)],
                                           at[static_cast<std::size_t>(send.to)]);
    Flow flow{scenario.timed.size(), {path->begin(), path->end()}, send.bytes, no_rate_cap};
    flow.links.push_back(hops + send.from);
    flow.links.push_back(hops + gpus + send.to);
    scenario.timed.push_back({0, flow});
  }
  return scenario;
}

TEST(Platform, LinksLeftOutChangeNoTime) {
  for (const std::string& name : models::machine_names()) {
    SCOPED_TRACE(name);
    Machine machine = load_machine(name);
    if (machine.gpus_per_node < 2) continue;
    machine.nodes = 1;
    const Platform platform(machine, machine.gpus_per_node);
    const auto sends = random_sends(7, machine.gpus_per_node, 40);
    const Scenario whole = whole_node(machine, sends);
    const Scenario pruned = scenario_of(platform, sends);
    EXPECT_LT(pruned.links.size(), whole.links.size());
    expect_same(ask_oracle(pruned), ask_oracle(whole), 1e-9);
  }
}

// Fabrics with every engine, against the oracle; and no link carries more than it can.
TEST(Fabric, EnginesAgreeAndNoLinkIsOverloaded) {
  for (const char* name : {"dgx-h100-fat-tree*8", "a100x4-dragonfly*96", "torus-4x4x4",
                           "pcie-8xa100*2", "hgx-h200-1nic*3"}) {
    SCOPED_TRACE(name);
    const Machine machine = load_machine(name);
    const Platform platform(machine, machine.pes());
    const Scenario scenario = scenario_of(platform, random_sends(3, machine.pes(), 60));
    const Ends wanted = ask_oracle(scenario);
    expect_same(run("ports", scenario), wanted, 1e-9);
    if (have_simgrid()) expect_same(run("simgrid", scenario), wanted, 1e-6);
    double last_s = 0;
    std::vector<double> bytes(scenario.links.size(), 0);
    for (const auto& [start, flow] : scenario.timed) {
      last_s = std::max(last_s, wanted.at(flow.id));
      for (const int link : flow.links) bytes[static_cast<std::size_t>(link)] += flow.bytes;
    }
    for (std::size_t link = 0; link < bytes.size(); ++link)
      EXPECT_LE(bytes[link], scenario.links[link] * last_s * (1 + 1e-9))
          << platform.link_name(static_cast<int>(link));
  }
}

// All rates times k: all times over k, whatever the wiring.
TEST(Fabric, TwiceTheRatesIsHalfTheTime) {
  const Machine machine = load_machine("dgx-h100-fat-tree*8");
  const Platform platform(machine, machine.pes());
  Scenario scenario = scenario_of(platform, random_sends(5, machine.pes(), 60));
  const Ends before = ask_oracle(scenario);
  for (double& link : scenario.links) link *= 2;
  Ends halves;
  for (const auto& [id, time] : before) halves[id] = time / 2;
  expect_same(ask_oracle(scenario), halves, 1e-9);
}

// One put of n bytes, and the time that PE 0 sees until it is complete.
double put_us(const Machine& machine, int to, std::size_t n) {
  SimOptions options;
  options.machine = machine;
  options.pes = machine.pes();
  options.network = "ports";
  options.data = false;
  double time_us = 0;
  run_sim(options, [&](fiber::FiberWorld& world) {
    const auto there = world.allocate<std::uint8_t>(n);
    const auto here = world.allocate<std::uint8_t>(n);
    world.barrier();
    const double begin = world.mark_us();
    world.launch({.name = "put", .blocks = 1}, [=](fiber::FiberBlock& block) {
      if (block.pe() == 0) block.put(there, here, there.all(), to);
      block.quiet();
    });
    if (world.pe() == 0) time_us = world.mark_us() - begin;
  });
  return time_us;
}

TEST(Fabric, OnePutTakesLatencyOfItsWayAndBytesOverBandwidth) {
  const Machine box = load_machine("pcie-8xa100");
  const double start_us = box.number("launch_us") + box.number("ramp_us");
  const double ends_us =
      start_us + box.number("load_local_us") + box.number("release_us") + box.number("sync_us");
  for (const std::size_t n : {std::size_t{1000}, std::size_t{1} << 28}) {
    const auto bytes = static_cast<double>(n);
    EXPECT_NEAR(put_us(box, 1, n), ends_us + bytes / 24e3, 1e-9 * bytes + 1e-6);
    EXPECT_NEAR(put_us(box, 2, n), ends_us + 2 * 0.15 + bytes / 24e3, 1e-9 * bytes + 1e-6);
    EXPECT_NEAR(put_us(box, 4, n), ends_us + 4 * 0.15 + bytes / 22e3, 1e-9 * bytes + 1e-6);
  }
  const Machine tree = with("dgx-h100-fat-tree*8", "fabric_hop_us", 5);
  const double near_us = put_us(tree, 8, 1 << 20);
  EXPECT_NEAR(put_us(tree, 32, 1 << 20), near_us + 10, 1e-6);
}

}  // namespace
}  // namespace sym::sim
