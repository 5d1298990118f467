// What the simulator says a verb takes is what sim/time_policy.hpp documents, to the last digit.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "core/collective/barrier.hpp"
#include "core/error.hpp"
#include "models/packets.hpp"
#include "sim/child.hpp"
#include "sim/network.hpp"
#include "sim/run.hpp"

namespace sym::sim {
namespace {

const models::Machine& machine() {
  static const models::Machine one = models::load_machine("h200x2");
  return one;
}
double us(const char* key) { return machine().number(key); }
double start_us() { return us("launch_us") + us("ramp_us"); }
double seen_us() { return us("load_local_us") + us("sync_us"); }      // the poll that sees a flag
double rate(const char* key) { return machine().number(key) * 1e3; }  // bytes a microsecond

constexpr std::size_t packet_bytes = 65536;

// Time from the launch to the end of `kernel` on each PE, in a process of its own.
template <class Kernel>
std::vector<double> times_us(const std::string& network, std::size_t n, int blocks, Kernel kernel,
                             bool early = false) {
  const std::string bytes = run_in_child([&] {
    SimOptions options;
    options.machine = machine();
    options.pes = 2;
    options.network = network;
    options.data = false;
    std::vector<double> times(2);
    const SimReport report = run_sim(options, [&](fiber::FiberWorld& world) {
      const auto to = world.allocate<std::uint8_t>(n);
      const auto from = world.allocate<std::uint8_t>(n);
      const Group group{world.channel({blocks, std::min(n, packet_bytes)}), world.team()};
      world.barrier();
      const double begin = world.mark_us();
      world.launch({.name = "timed", .blocks = blocks, .early = early},
                   [=](fiber::FiberBlock& block) { kernel(block, group, to, from); });
      times[static_cast<std::size_t>(world.pe())] = world.mark_us() - begin;
    });
    if (!report.findings.empty()) throw Failure(report.findings[0].text);
    return std::string(reinterpret_cast<const char*>(times.data()), 2 * sizeof(double));
  });
  std::vector<double> times(2);
  std::memcpy(times.data(), bytes.data(), bytes.size());
  return times;
}

using F = fiber::FiberBlock;
using W = Window<std::uint8_t>;

class SimTime : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (GetParam() == "simgrid" && !have_simgrid()) GTEST_SKIP() << "this build has no SimGrid";
  }
};
INSTANTIATE_TEST_SUITE_P(Networks, SimTime, testing::Values("ports", "simgrid"),
                         [](const auto& one) { return one.param; });

TEST_P(SimTime, ALaunchThatIsSetUpEarlyBeginsSooner) {
  const auto kernel = [](F& block, const Group&, W, W) { block.sync(); };
  const double late = times_us(GetParam(), 16, 1, kernel)[0];
  EXPECT_GT(us("early_us"), 0);
  EXPECT_NEAR(late - times_us(GetParam(), 16, 1, kernel, true)[0], us("early_us"), 1e-6);
}

// What is cold is what its verbs need.
TEST_P(SimTime, ALaunchWithoutVerbsTakesTheLaunchAlone) {
  const auto nothing = [](F&, const Group&, W, W) {};
  EXPECT_GT(us("ramp_us"), 0);
  EXPECT_NEAR(times_us(GetParam(), 16, 1, nothing)[0], us("launch_us"), 1e-6);
  EXPECT_NEAR(times_us(GetParam(), 16, 1, nothing, true)[0],
              std::max(0.0, us("launch_us") - us("early_us")), 1e-6);
}

TEST_P(SimTime, OnePutTakesLatencyAndBytesOverBandwidth) {
  for (std::size_t n : {std::size_t{16}, std::size_t{100000}, std::size_t{1} << 28}) {
    const auto times = times_us(GetParam(), n, 1, [](F& block, const Group&, W to, W from) {
      if (block.pe() == 0) block.put(to, from, to.all(), 1);
      block.quiet();
    });
    const double wanted = start_us() + us("load_local_us") +
                          static_cast<double>(n) / rate("sm_write_gbps") + us("release_us") +
                          us("sync_us");
    EXPECT_NEAR(times[0], wanted, 1e-6 * wanted) << n;
    EXPECT_NEAR(times[1], start_us(), 1e-6);
  }
}

TEST_P(SimTime, ManyBlocksReachThePortAndNoMore) {
  constexpr std::size_t n = std::size_t{1} << 26;
  const auto times = times_us(GetParam(), n, 64, [](F& block, const Group&, W to, W from) {
    const Range part = chunk(to.all(), block.index(), block.count());
    if (block.pe() == 0) block.put(to, from, part, 1);
    block.quiet();
  });
  const double wanted = start_us() + us("load_local_us") +
                        static_cast<double>(n) / rate("port_gbps") + us("release_us") +
                        us("sync_us");
  EXPECT_NEAR(times[0], wanted, 1e-6 * wanted);
}

TEST_P(SimTime, OneGetTakesALoadAndBytesOverBandwidth) {
  constexpr std::size_t n = 1000000;
  const auto times = times_us(GetParam(), n, 1, [](F& block, const Group&, W to, W from) {
    if (block.pe() == 0) block.get(to, from, to.all(), 1);
    block.quiet();
  });
  const double wanted =
      start_us() + us("load_remote_us") + static_cast<double>(n) / rate("sm_read_gbps");
  EXPECT_NEAR(times[0], wanted, 1e-6 * wanted);
}

TEST_P(SimTime, OneSignalTakesReleaseAndFlag) {
  const auto times = times_us(GetParam(), 1, 1, [](F& block, const Group& group, W, W) {
    if (block.pe() == 0) block.signal(group.channel.steps, 0, 1);
    if (block.pe() == 1) block.wait_until(group.channel.steps, 0, group.team);
  });
  const double there = start_us() + us("load_local_us") + us("release_us") + us("flag_us");
  EXPECT_NEAR(times[1], there + seen_us(), 1e-6);
}

TEST_P(SimTime, PutSignalIsSeenAfterItsPayload) {
  constexpr std::size_t n = 1000000;
  const auto times = times_us(GetParam(), n, 1, [](F& block, const Group& group, W to, W from) {
    if (block.pe() == 0) block.put_signal(to, from, to.all(), group.channel.steps, 0, 1);
    if (block.pe() == 1) block.wait_until(group.channel.steps, 0, group.team);
  });
  const double there = start_us() + 2 * us("load_local_us") +  // its epoch, and the source
                       static_cast<double>(n) / rate("sm_write_gbps") + us("release_us") +
                       us("flag_us");
  EXPECT_NEAR(times[1], there + seen_us(), 1e-6 * there);
}

// A message of twice a pass takes its bytes and one pass longer than one of a pass.
TEST_P(SimTime, PacketsTakeAPassForEachSoManyBytes) {
  const auto message_us = [&](std::size_t n) {
    const auto times = times_us(GetParam(), n, 1, [](F& block, const Group& group, W to, W from) {
      block.put_packets(group.channel.inbox, 0, from, from.all(), group.team);
      block.reduce_packets(to, from, to.all(), group.channel.inbox, 0, group.team, Sum{});
    });
    return times[0];
  };
  const auto n = static_cast<std::size_t>(machine().number("packet_pass_bytes"));
  const double wire = models::packet_wire * static_cast<double>(n) / rate("sm_write_gbps");
  const double memory = (models::packet_wire + 2) * static_cast<double>(n) / rate("sm_local_gbps");
  EXPECT_GT(us("packet_pass_us"), 0);
  // Networks count whole bytes.
  EXPECT_NEAR(message_us(2 * n) - message_us(n), wire + memory + us("packet_pass_us"), 1e-4);
  EXPECT_NEAR(message_us(n + 16) - message_us(n), us("packet_pass_us"), 0.01);
}

// One has nothing to send, and both run on: the answer is the proof that a message has been read.
TEST_P(SimTime, AMessageOfNoElementsIsAPacket) {
  const auto times = times_us(GetParam(), 16, 1, [](F& block, const Group& group, W to, W from) {
    const Packets& inbox = group.channel.inbox;
    block.put_packets(inbox, 0, from, Range{0, 0}, group.team);
    block.receive_packets(per_member(to, 0), from, Range{0, 0}, inbox, 0, group.team);
  });
  const double least_us = us("load_local_us") + us("flag_us") + seen_us();
  EXPECT_NEAR(times[0] - start_us(), least_us, 0.1 * least_us);
}

// While others hold the link, a block that is ahead or behind reduces: from the second message on a
// pass, and what it reads and stores, cost only what is left of them.
TEST_P(SimTime, PassesOfLaterMessagesFillTheGapsOfTheLink) {
  constexpr int blocks = 64;
  const auto part = static_cast<std::size_t>(machine().number("packet_pass_bytes"));
  const auto messages_us = [&](int messages) {
    const auto kernel = [=](F& block, const Group& group, W to, W from) {
      const auto slot = static_cast<std::size_t>(block.index());
      const Range mine = chunk(to.all(), block.index(), block.count());
      for (int i = 0; i < messages; ++i) {
        block.put_packets(group.channel.inbox, slot, from, mine, group.team);
        block.reduce_packets(to, from, mine, group.channel.inbox, slot, group.team, Sum{});
      }
    };
    return times_us(GetParam(), blocks * part, blocks, kernel)[0];
  };
  const double sent = models::packet_wire * static_cast<double>(part);
  const double wire = sent * blocks / rate("port_gbps");
  const double held_up = wire - sent / rate("sm_write_gbps");
  EXPECT_GT(held_up, us("packet_pass_us"));  // so that nothing is left of it
  const double memory =
      (models::packet_wire + 2) * static_cast<double>(part) * blocks / rate("hbm_gbps");
  const double sent_us = us("load_local_us") + wire + us("flag_us") + seen_us();
  const double taken = memory + us("packet_pass_us");
  const double first = messages_us(1);
  EXPECT_NEAR(first - start_us(), sent_us + taken, 1e-3 * first);
  EXPECT_NEAR(messages_us(2) - first, sent_us + std::max(0.0, taken - held_up), 1e-3 * first);
}

TEST(Sim, RefusesMorePesThanGpusAndUnknownNetworks) {
  SimOptions options;
  options.machine = machine();
  options.pes = 3;
  options.network = "ports";
  EXPECT_THROW((void)run_sim(options, [](fiber::FiberWorld&) {}), UsageError);
  options.pes = 2;
  options.network = "port";
  EXPECT_THROW((void)run_sim(options, [](fiber::FiberWorld&) {}), UsageError);
}

TEST(Child, ReturnsItsStringAndItsErrors) {
  EXPECT_EQ(run_in_child([] { return std::string(100000, 'x'); }), std::string(100000, 'x'));
  EXPECT_EQ(run_in_child([] { return std::string("a\0b", 3); }), std::string("a\0b", 3));
  EXPECT_THROW(run_in_child([]() -> std::string { throw UsageError("u"); }), UsageError);
  EXPECT_THROW(run_in_child([]() -> std::string { throw Unavailable("n"); }), Unavailable);
  EXPECT_THROW(run_in_child([]() -> std::string { throw Failure("f"); }), Failure);
  EXPECT_THROW(run_in_child([]() -> std::string { std::abort(); }), Failure);
  EXPECT_THROW(run_in_child([]() -> std::string { _exit(3); }), Failure);
}

}  // namespace
}  // namespace sym::sim
