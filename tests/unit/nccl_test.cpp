// NCCL's choices: points computed by hand from its source's formulas, and what is refused.
#include "models/nccl.hpp"

#include <gtest/gtest.h>

#include "models/multicast.hpp"
#include "tests/unit/machine_checks.hpp"

namespace sym::models {
namespace {

constexpr double one_mib = 1024 * 1024;

NcclChoice chosen(const std::string& machine, const std::string& collective, double bytes,
                  const std::string& only = "") {
  const Machine loaded = load_machine(machine);
  return nccl_choice(loaded, {collective, loaded.pes(), bytes}, only);
}

TEST(NcclTuner, RingOfOneHopperNode) {
  // 370.8 GB/s hold 6 channels of 60, which become 12 of 30.
  const NcclChoice low = chosen("dgx-h100", "all_reduce", one_mib, "ring/LL");
  EXPECT_EQ(low.channels, 12);
  EXPECT_DOUBLE_EQ(low.busbw_gbps, 141);  // of 180, its cap
  EXPECT_NEAR(low.latency_us, 6.6 + 14 * 0.6, 1e-9);
  EXPECT_NEAR(low.us, 15 + 1048.576 / (141 * 8 / 14.0), 1e-6);
  EXPECT_NEAR(chosen("dgx-h100", "all_reduce", one_mib, "ring/LL128").busbw_gbps, 331.2, 1e-9);
  const NcclChoice simple = chosen("dgx-h100", "all_gather", one_mib, "ring/Simple");
  EXPECT_DOUBLE_EQ(simple.busbw_gbps, 360);
  EXPECT_NEAR(simple.latency_us, 8.4 + 7 * 3.4, 1e-9);
  EXPECT_NEAR(simple.us, 32.2 + 1048.576 / (360 * 8 / 7.0), 1e-6);
}

TEST(NcclTuner, TreeAndItsCorrection) {
  const NcclChoice one = chosen("dgx-h100", "all_reduce", one_mib, "tree/LL128");
  EXPECT_NEAR(one.latency_us, 14 + 14 * 1.25, 1e-9);
  EXPECT_NEAR(one.algbw_gbps, 331.2 * 7 / 9 / 2 * 0.6, 1e-9);  // 0.6 for 1 MiB
  EXPECT_NEAR(chosen("dgx-h100", "all_reduce", 512 * one_mib, "tree/LL128").algbw_gbps, 128.8,
              1e-9);
  const NcclChoice four = chosen("dgx-h100*4", "all_reduce", 8, "tree/LL");
  EXPECT_NEAR(four.latency_us, 6.8 + 2 * (7 * 0.6 + 2 * 5), 1e-9);
}

TEST(NcclTuner, MulticastOfOneNodeAndAsTree) {
  const NcclChoice one = chosen("dgx-h100", "all_reduce", 16 * one_mib, "nvls");
  EXPECT_NEAR(one.busbw_gbps, 8 * 40 * 0.85 * 7 / 8 * 2, 1e-9);
  EXPECT_NEAR(one.algbw_gbps, 272, 1e-9);
  EXPECT_NEAR(one.us, 25 + 16777.216 / 272, 1e-6);
  // 128 parts of 32 KiB a loop, and two of its three stages wait for one.
  EXPECT_NEAR(one.fill_us, 2 * 4 * 1048.576 / 272, 1e-6);
  EXPECT_NEAR(chosen("hgx-b200", "all_reduce", one_mib, "nvls").busbw_gbps, 828.8, 1e-9);
  const NcclChoice two = chosen("dgx-h100*2", "all_reduce", 1024 * one_mib, "nvls_tree");
  EXPECT_NEAR(two.busbw_gbps, 8 * 57.7, 1e-9);
  EXPECT_NEAR(two.latency_us, 25 + 2 * 14, 1e-9);
  const NcclChoice four = chosen("dgx-h100*4", "all_reduce", 1024 * one_mib, "nvls_tree");
  EXPECT_NEAR(four.busbw_gbps, 8 * 45.5, 1e-9);
  EXPECT_NEAR(four.latency_us, 25 + 2 * 2 * 14, 1e-9);
}

TEST(NcclTuner, RingsOverNics) {
  const NcclChoice two = chosen("dgx-h100*2", "all_reduce", 64 * one_mib, "ring/Simple");
  EXPECT_EQ(two.channels, 8);
  EXPECT_DOUBLE_EQ(two.busbw_gbps, 384);
  EXPECT_NEAR(two.latency_us, 1.4 * (8.4 + 28 * 3.4 + 2 * 14), 1e-9);  // its plateau
  EXPECT_NEAR(chosen("dgx-h100*2", "all_gather", one_mib, "ring/Simple").latency_us,
              8.4 + 14 * 3.4 + 14, 1e-9);
  // One NIC: a channel of 48, cut in two.
  const NcclChoice one = chosen("hgx-h200-1nic*2", "all_reduce", 64 * one_mib, "ring/Simple");
  EXPECT_EQ(one.channels, 2);
  EXPECT_DOUBLE_EQ(one.busbw_gbps, 48);
}

TEST(NcclTuner, SendsTakeAllLanes) {
  const NcclChoice one = chosen("hgx-b200", "all_to_all", one_mib);
  EXPECT_EQ(one.name(), "p2p/Simple");
  EXPECT_NEAR(one.us, 8.4 + 3.4 + 1048.576 / (18 * 40.1 * 8 / 7), 1e-6);
  // Half of the peers are in the other node.
  EXPECT_NEAR(chosen("dgx-h100*2", "all_to_all", one_mib).busbw_gbps, 50 * 15 / 8.0, 1e-9);
}

// Requests are counted for each message, of which a step of a ring has more than the one that NCCL
// counts: two channels at each NIC, slices, and two requests for more than 8 KiB.
TEST(NcclTuner, RequestsOfAStepBetweenNodes) {
  Machine machine = load_machine("dgx-h100*2");
  machine.numbers["nccl_overhead_us"] = {2, "test", true};
  const auto requests_us = [&](const char* collective, double bytes, const char* only) {
    return nccl_choice(machine, {collective, 16, bytes}, only).requests_us;
  };
  EXPECT_DOUBLE_EQ(requests_us("all_gather", one_mib / 16, "ring/LL"), 2);    // one channel in all
  EXPECT_DOUBLE_EQ(requests_us("all_gather", one_mib, "ring/LL128"), 2 * 2);  // of 4 KiB each
  EXPECT_DOUBLE_EQ(requests_us("all_gather", 2 * one_mib, "ring/LL128"), 2 * 2 * 2);
  EXPECT_DOUBLE_EQ(requests_us("all_gather", 128 * one_mib, "ring/Simple"), 2 * 2 * 2 * 2);
  EXPECT_DOUBLE_EQ(requests_us("all_gather", 1024 * one_mib, "ring/Simple"), 2 * 4 * 2 * 2);
  EXPECT_DOUBLE_EQ(requests_us("all_reduce", one_mib, "nvls_tree"), 0);
  EXPECT_DOUBLE_EQ(chosen("dgx-h100", "all_gather", one_mib, "ring").requests_us, 0);
  machine.numbers.erase("nccl_split_bytes");
  EXPECT_DOUBLE_EQ(requests_us("all_gather", 2 * one_mib, "ring/LL128"), 2 * 2);
}

TEST(NcclTuner, ChannelsBoundSends) {
  Machine machine = load_machine("hgx-b200");
  machine.numbers["nccl_channel_gbps"] = {20, "test", true};
  const auto sends = [&](double bytes) { return nccl_choice(machine, {"all_to_all", 8, bytes}); };
  EXPECT_EQ(sends(2 * one_mib).name(), "p2p/LL");  // 256 KiB for a peer
  EXPECT_DOUBLE_EQ(sends(2 * one_mib).busbw_gbps, 7 * 4 * 10);
  EXPECT_DOUBLE_EQ(sends(2 * one_mib).fill_us, 0);
  EXPECT_EQ(sends(one_mib / 16).channels, 7);  // 8 KiB for a peer: one part
  EXPECT_EQ(sends(64 * one_mib).name(), "p2p/Simple");
  EXPECT_DOUBLE_EQ(sends(64 * one_mib).busbw_gbps, 7 * 4 * 20);
  EXPECT_DOUBLE_EQ(sends(64 * one_mib).fill_us, 524288 / 20e3);
  EXPECT_DOUBLE_EQ(sends(1024 * one_mib).busbw_gbps, 32 * 20);  // parts of 16 MiB at most: all
}

TEST(NcclTuner, AmdProxiesTakeLonger) {
  Machine machine = load_machine("dgx-h100*2");
  machine.numbers["nccl_overhead_us"] = {2, "test", true};
  const NcclCall call{"all_gather", 16, one_mib};
  EXPECT_NEAR(nccl_choice(machine, call, "ring/LL").latency_us, 6.6 + 14 * 2 + 2.7, 1e-9);
  EXPECT_NEAR(nccl_choice(machine, call, "ring/Simple").latency_us, 8.4 + 14 * 6 + 14, 1e-9);
  EXPECT_DOUBLE_EQ(nccl_choice(machine, call, "ring/LL").busbw_gbps, 22.5);
}

TEST(NcclTuner, TakesTheLeastTime) {
  EXPECT_EQ(chosen("dgx-h100", "all_reduce", 8).name(), "ring/LL");
  EXPECT_EQ(chosen("dgx-h100", "all_reduce", one_mib).name(), "ring/LL");  // 28.0 us, nvls 28.9
  EXPECT_EQ(chosen("dgx-h100", "all_reduce", 2 * one_mib).name(), "nvls/Simple");
  EXPECT_EQ(chosen("dgx-h100", "all_gather", 64 * one_mib).name(), "ring/Simple");
  EXPECT_EQ(chosen("dgx-h100*2", "all_reduce", 8).name(), "tree/LL");
  EXPECT_EQ(chosen("dgx-h100*2", "all_reduce", 64 * one_mib).name(), "nvls_tree/Simple");
  // Two GPUs have no NVLS, A100 neither.
  for (const char* machine : {"h200x2", "dgx-a100"}) {
    for (const NcclChoice& one :
         nccl_choices(load_machine(machine), {"all_reduce", load_machine(machine).pes(), one_mib}))
      EXPECT_EQ(one.algorithm.rfind("nvls", 0), std::string::npos) << machine;
  }
}

TEST(NcclTuner, RefusesWhatItDoesNotModel) {
  const auto of = [](const char* machine, int pes, const char* collective, const char* only) {
    return refusal([&] { nccl_choice(load_machine(machine), {collective, pes, one_mib}, only); });
  };
  EXPECT_NE(of("dgx-h100", 8, "broadcast", "").find("not for 'broadcast'"), std::string::npos);
  EXPECT_NE(of("mi300x", 8, "all_reduce", "").find("NVLink switches"), std::string::npos);
  EXPECT_NE(of("dgx-h100*2", 9, "all_reduce", "").find("fill their nodes"), std::string::npos);
  EXPECT_NE(of("dgx-h100", 8, "all_reduce", "rings").find("nearest is 'ring'"), std::string::npos);
  EXPECT_NE(of("dgx-h100*2", 16, "all_gather", "nvls").find("no 'nvls'"), std::string::npos);
}

// Switches of which nobody says that they have multicast have none, and older GPUs never.
TEST(NcclTuner, NoMulticastWhereTheMachineDoesNotSaySo) {
  Machine machine = load_machine("dgx-h100");
  const NcclCall call{"all_reduce", 8, 64 * one_mib};
  EXPECT_EQ(nccl_choice(machine, call, "nvls").algorithm, "nvls");
  const auto why = [&] { return refusal([&] { nccl_choice(machine, call, "nvls"); }); };
  machine.numbers.at("compute_capability").value = 80;
  EXPECT_NE(why().find("no NVLink multicast: of GPUs with a compute_capability below 90"),
            std::string::npos);
  EXPECT_FALSE(has_multicast(machine));
  machine = load_machine("dgx-h100");
  machine.numbers.erase("nvls_efficiency");
  EXPECT_NE(why().find("no NVLink multicast: nvls_efficiency is not"), std::string::npos);
  EXPECT_NE(nccl_choice(machine, call, "").algorithm, "nvls");
}

// Our variants through multicast take NCCL's time: what their busiest port or rail carries for each
// byte, over its rate, is a byte over NCCL's 272 GB/s in a node and 461.6 x 16 / 30 on two.
TEST(NcclFlavour, MulticastHasTheRateOfItsOwnBytes) {
  const auto flavour = [](const char* name, const char* collective) {
    const Machine machine = load_machine(name);
    const NcclCall call{collective, machine.pes(), 1024 * one_mib};
    const NcclChoice choice = nccl_choice(machine, call, machine.nodes > 1 ? "nvls_tree" : "nvls");
    EXPECT_EQ(nccl_variant(choice, collective, machine.nodes), choice.algorithm);
    return nccl_flavour(machine, choice, call);
  };
  const Machine one = flavour("dgx-h100", "all_reduce");
  EXPECT_NEAR(one.number("port_gbps"), 272 * 9 / 8.0,
              1e-9);                                   // sums out and results in, and a share
  EXPECT_DOUBLE_EQ(one.number("nvls_efficiency"), 1);  // which is in the 272 already
  // 8 x 40 x 0.85 x 7/8, of which 7/8: all_gather brings every byte into a port, its own too.
  EXPECT_NEAR(flavour("dgx-h100", "all_gather").number("port_gbps"), 208.25, 1e-9);
  const double two = 8 * 57.7 * 16 / 30, four = 8 * 45.5 * 32 / 62;
  EXPECT_NEAR(flavour("dgx-h100*2", "all_reduce").number("nic_gbps"), two / 8, 1e-9);
  EXPECT_NEAR(flavour("dgx-h100*4", "all_reduce").number("nic_gbps"), 2 * four / 8, 1e-9);
}

TEST(NcclFlavour, HasNcclsRatesAndNoOther) {
  const Machine machine = load_machine("dgx-h100*2");
  const NcclCall call{"all_reduce", 16, one_mib / 16};
  const Machine ring = nccl_flavour(machine, nccl_choice(machine, call, "ring/LL"), call);
  EXPECT_DOUBLE_EQ(ring.number("launch_us"), 6.6);
  EXPECT_DOUBLE_EQ(ring.number("put_release_us"), 1);  // the proxy's, above 0.6
  EXPECT_DOUBLE_EQ(ring.number("release_us"), 0);
  EXPECT_DOUBLE_EQ(ring.number("nic_latency_us"), 2.7);
  EXPECT_DOUBLE_EQ(ring.number("port_gbps"), 39);
  EXPECT_DOUBLE_EQ(ring.number("nic_gbps"), 39);
  EXPECT_DOUBLE_EQ(ring.number("sync_us"), 0);
  // A NIC that is slower than its line stays so.
  Machine slow = machine;
  slow.numbers["nic_gbps"].value = 2;
  EXPECT_DOUBLE_EQ(nccl_flavour(slow, nccl_choice(slow, call, "ring/LL"), call).number("nic_gbps"),
                   16);
}

// What NCCL leaves out of its expectation is in the machine: requests as the time of a hop, the
// rate of its channels as a port's, and a NIC that stops for the requests of each message of sends.
TEST(NcclFlavour, HasRequestsAndChannels) {
  Machine machine = load_machine("dgx-h100*2");
  machine.numbers["nccl_overhead_us"] = {2, "test", true};
  const NcclCall large{"all_gather", 16, 128 * one_mib};
  const auto flavour = [&](const NcclCall& call, const char* only) {
    return nccl_flavour(machine, nccl_choice(machine, call, only), call);
  };
  EXPECT_DOUBLE_EQ(flavour(large, "ring/Simple").number("launch_us"), 8.4);
  EXPECT_DOUBLE_EQ(flavour(large, "ring/Simple").number("put_release_us"), 16);
  EXPECT_DOUBLE_EQ(flavour(large, "ring/Simple").number("nic_latency_us"), 16);
  EXPECT_DOUBLE_EQ(flavour(large, "ring/Simple").number("port_gbps"), 384);
  machine.numbers["nccl_channel_gbps"] = {20, "test", true};
  EXPECT_DOUBLE_EQ(flavour(large, "ring/Simple").number("port_gbps"), 16 * 20);
  EXPECT_DOUBLE_EQ(flavour(large, "ring/LL128").number("port_gbps"), 8 * 36.7);  // less than 300
  EXPECT_DOUBLE_EQ(flavour(large, "ring/Simple").number("nic_gbps"), 384);       // of the rail
  machine.numbers["nccl_channel_gbps"] = {16, "test", true};
  EXPECT_NEAR(flavour(large, "ring/LL128").number("port_gbps"), 16 * 16 * 120 / 128.0, 1e-9);
  const auto nic_gbps = [&](double bytes) {
    return flavour({"all_to_all", 16, bytes}, "").number("nic_gbps");
  };
  EXPECT_NEAR(nic_gbps(1024 * one_mib), 131072 / (131072 / 48.5 + 4e3), 1e-9);
  EXPECT_NEAR(nic_gbps(8 * one_mib), 65536 / (65536 / 48.5 + 4e3), 1e-9);  // 512 KiB for a peer
  EXPECT_NEAR(nic_gbps(one_mib), 32768 / (32768 / 48.5 + 4e3), 1e-9);
  machine.numbers["nccl_net_chunk_bytes"] = {524288, "test", true};
  EXPECT_NEAR(nic_gbps(1024 * one_mib), 524288 / (524288 / 48.5 + 4e3), 1e-9);
}

}  // namespace
}  // namespace sym::models
