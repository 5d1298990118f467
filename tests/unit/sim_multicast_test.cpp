// Multicast in the simulator: what it takes and which links carry it, by hand; and who has none.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/collective/nvls.hpp"
#include "core/error.hpp"
#include "models/bounds.hpp"
#include "models/choose.hpp"
#include "models/multicast.hpp"
#include "sim/run.hpp"

namespace sym::sim {
namespace {

using B = fiber::FiberBlock;
using W = Window<std::uint8_t>;
constexpr std::size_t n = 8000000;

SimReport run(const models::Machine& machine,
              const std::function<void(B&, const Group&, W, W)>& kernel, int pes = 0) {
  SimOptions options;
  options.machine = machine;
  options.pes = pes > 0 ? pes : machine.pes();
  options.network = "ports";
  options.data = false;
  options.explain = true;
  return run_sim(options, [&](fiber::FiberWorld& world) {
    const auto out = world.allocate<std::uint8_t>(n);
    const auto in = world.allocate<std::uint8_t>(n);
    const Group group{world.channel({4}), world.team()};
    world.launch({.name = "multicast", .blocks = 4},
                 [=](B& block) { kernel(block, group, out, in); });
  });
}

// Nothing takes time but bytes at ports of 100 GB/s, of which multicast gets `efficiency`.
models::Machine ports_alone(const std::string& name, double efficiency) {
  models::Machine machine = models::load_machine(name);
  for (auto& [key, quantity] : machine.numbers) {
    if (key.ends_with("_us")) quantity.value = 0;
    if (key.ends_with("_gbps")) quantity.value = 1e6;
    if (key == "port_gbps") quantity.value = 100;
  }
  machine.numbers.at("nvls_efficiency").value = efficiency;
  return machine;
}

void reduce_all(B& block, const Group& group, W out, W in) {
  all_reduce_nvls(block, group, in, out, n, Sum{});
}
void all_gather(B& block, const Group& group, W out, W in) {
  all_gather_nvls(block, group, in, out, n / 8);
}
void reduce_scatter(B& block, const Group& group, W out, W in) {
  reduce_scatter_nvls(block, group, in, out, n / 8, Sum{});
}

// Of 8 PEs each port sends the 8 MB of its sums and 1 MB of results, and receives 8 and 1: at 100
// GB/s 90 us, at half of that 180. Without multicast it would be 14 MB each way.
TEST(SimMulticast, EachPortCarriesWhatItSharesOnce) {
  EXPECT_NEAR(run(ports_alone("dgx-h100", 1), reduce_all).end_us, 90, 1e-6);
  EXPECT_NEAR(run(ports_alone("dgx-h100", 0.5), reduce_all).end_us, 180, 1e-6);
  EXPECT_NEAR(run(ports_alone("dgx-h100", 1), all_gather).end_us, 80, 1e-6);
  EXPECT_NEAR(run(ports_alone("dgx-h100", 1), reduce_scatter).end_us, 80, 1e-6);
}

double bytes_of(const SimReport& report, const std::string& way) {
  double most = 0, least = 1e18;
  int links = 0;
  for (const LinkLoad& link : report.links) {
    if (link.name.find(way) == std::string::npos) continue;
    ++links;
    most = std::max(most, link.bytes);
    least = std::min(least, link.bytes);
  }
  EXPECT_EQ(links, 8) << way;
  EXPECT_EQ(least, most) << way;
  return most;
}

TEST(SimMulticast, LinksCarryTheBytesOfTheirPorts) {
  const models::Machine machine = ports_alone("dgx-h100", 1);
  const SimReport both = run(machine, reduce_all);
  EXPECT_EQ(bytes_of(both, ">nvswitch"), 9e6);
  EXPECT_EQ(bytes_of(both, "nvswitch>"), 9e6);
  const SimReport gathered = run(machine, all_gather);
  EXPECT_EQ(bytes_of(gathered, ">nvswitch"), 1e6);
  EXPECT_EQ(bytes_of(gathered, "nvswitch>"), 8e6);
  const SimReport scattered = run(machine, reduce_scatter);
  EXPECT_EQ(bytes_of(scattered, ">nvswitch"), 8e6);
  EXPECT_EQ(bytes_of(scattered, "nvswitch>"), 1e6);
}

// Two nodes: 1 MB of each PE through its NIC of 10 GB/s, each way and both at a time: its half up
// one tree and the other half down the other. Inside the nodes there are 8 + 1 MB, then 1 + 8.
TEST(SimMulticast, TreesOnRailsCarryAShareOnce) {
  models::Machine machine = ports_alone("dgx-h100*2", 1);
  machine.numbers.at("nic_gbps").value = 10;
  SimOptions options;
  options.machine = machine;
  options.pes = 16;
  options.network = "ports";
  options.data = false;
  const int pieces = 100;
  const SimReport report = run_sim(options, [&](fiber::FiberWorld& world) {
    const auto out = world.allocate<std::uint8_t>(n);
    const auto in = world.allocate<std::uint8_t>(n);
    const auto work = world.allocate<std::uint8_t>(hierarchical_tree_work<std::uint8_t>(n, 1));
    const Group group{world.channel({1}), world.team()};
    LaunchConfig config{.name = "tree", .blocks = 1};
    config.symmetric = false;
    world.launch(config, [=](B& block) {
      all_reduce_nvls_tree(block, group, in, work, out, n, Sum{}, 8, pieces);
    });
  });
  EXPECT_NEAR(report.end_us, 80 + 100 + 80, 5);  // 8 MB out of a port, the rails, 8 MB into one
}

TEST(SimMulticast, WhoHasNoneRefuses) {
  const auto refused = [](const models::Machine& machine, int pes) {
    try {
      run(machine, reduce_all, pes);
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(refused(models::load_machine("dgx-a100"), 8).find("dgx-a100 has no NVLink multicast"),
            std::string::npos);
  EXPECT_NE(refused(models::load_machine("h200x2"), 2).find("no NVLink multicast"),
            std::string::npos);
  EXPECT_NE(refused(models::load_machine("dgx-h100*2"), 16).find("nvls_tree is for several"),
            std::string::npos);
  EXPECT_EQ(refused(models::load_machine("gb200-nvl72"), 72), "");
}

// B through each port in place of 2(P-1)/P B; other collectives gain nothing at the busier side.
TEST(SimMulticast, BoundAndChoiceKnowIt) {
  const models::Machine machine = models::load_machine("dgx-h100");
  const double port = models::detail::port_rate(machine, true);
  EXPECT_NEAR(models::collective_bound("all_reduce", machine, 8, 1e9, true).us, 1e6 / port, 1e-6);
  EXPECT_NEAR(models::collective_bound("all_reduce", machine, 8, 1e9).us, 1.75e6 / port, 1e-6);
  EXPECT_EQ(models::collective_bound("all_gather", machine, 8, 1e9, true).us,
            models::collective_bound("all_gather", machine, 8, 1e9).us);
  const models::Menu menu{{"two_shot", "nvls"}, 132, 132};
  EXPECT_EQ(models::choose(machine, {"all_reduce", 8, 1e9}, menu).variant, "nvls");
  EXPECT_EQ(models::choose(models::load_machine("dgx-a100"), {"all_reduce", 8, 1e9}, menu).variant,
            "two_shot");
  // 9/8 of the bytes over 0.85 of 353 GB/s, and latencies.
  const models::Estimate estimate = models::estimate(machine, {"all_reduce", 8, 1e9}, "nvls", 32);
  EXPECT_NEAR(estimate.terms.back().us, 1.125e6 / (0.85 * 353), 1e-6);
}

}  // namespace
}  // namespace sym::sim
