// What the simulator's time is made of: closed forms, conservation, what explains it, and what
// disturbances of the machine do to it. On ports alone; both networks agree (network_test).
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "core/collective/all_gather.hpp"
#include "core/collective/all_reduce.hpp"
#include "core/collective/hierarchical.hpp"
#include "core/error.hpp"
#include "models/what_if.hpp"
#include "sim/run.hpp"

namespace sym::sim {
namespace {

using B = fiber::FiberBlock;
using W = Window<std::uint8_t>;
constexpr std::size_t mega = 1000000;
constexpr int blocks = 32;

struct Timed {
  SimReport report;
  double us = 0;       // the slowest PE's
  double us_of_0 = 0;  // PE 0's
};

// A launch of `kernel(block, group, out, in)` on windows of n bytes.
template <class Kernel>
Timed run(SimOptions options, std::size_t n, Kernel kernel) {
  options.network = "ports";
  options.data = false;
  if (options.pes == 1) options.pes = options.machine.pes();
  Timed timed;
  timed.report = run_sim(options, [&](fiber::FiberWorld& world) {
    const auto out = world.allocate<std::uint8_t>(n);
    const auto in = world.allocate<std::uint8_t>(n);
    const Group group{world.channel({blocks}), world.team()};
    world.barrier();
    const double begin = world.mark_us();
    world.launch({.name = "timed", .blocks = blocks},
                 [=](B& block) { kernel(block, group, out, in); });
    const double us = world.mark_us() - begin;
    timed.us = std::max(timed.us, us);
    if (world.pe() == 0) timed.us_of_0 = us;
  });
  for (const auto& finding : timed.report.findings) ADD_FAILURE() << finding.text;
  return timed;
}

SimOptions on(const std::string& machine) {
  SimOptions options;
  options.machine = models::load_machine(machine);
  options.explain = true;
  return options;
}

// Nothing takes time but bytes on links, which all have one rate.
SimOptions bytes_alone(const std::string& machine, double gbps) {
  SimOptions options = on(machine);
  for (auto& [key, quantity] : options.machine.numbers) {
    if (key.ends_with("_us")) quantity.value = 0;
    if (key.ends_with("_gbps")) quantity.value = 1e9;
    if (key == "nic_gbps" || key.starts_with("port_")) quantity.value = gbps;
  }
  return options;
}

// Puts of n bytes from PE 0 to `peer`, `times` times.
auto puts(int peer, int times = 1) {
  return [=](B& block, const Group&, W out, W in) {
    for (int i = 0; block.pe() == 0 && i < times; ++i) block.put(out, in, in.all(), peer);
    block.quiet();
  };
}

// An all-to-all by puts: pair (p, q) has q + 1 times as many bytes as a pair to PE 0.
void unequal_all_to_all(B& block, const Group& group, W out, W in) {
  const Team& team = group.team;
  for (int hop = 1; hop < team.size(); ++hop) {
    const int to = (team.rank() + hop) % team.size();
    block.put(out, in, Range{0, 1000 * static_cast<std::size_t>(to + 1)}, to);
  }
  block.quiet();
}

void all_reduce(B& block, const Group& group, W out, W in) {
  const int node = std::gcd(8, group.team.size());
  all_reduce_hierarchical(block, group, in, in.at(in.count / 2), out, in.count / 2, Max{}, node);
}

TEST(SimAnswers, RingsAndAllPairsHaveTheirClosedForms) {
  constexpr double gbps = 100;
  for (const int pes : {2, 3, 5, 8}) {
    SimOptions options = bytes_alone("dgx-h100", gbps);
    options.pes = pes;
    const double share_us = static_cast<double>(mega) / (gbps * 1e3);  // of one of `pes` shares
    const std::size_t n = mega * static_cast<std::size_t>(pes);
    const auto ring_gather = [](B& block, const Group& group, W out, W in) {
      all_gather_ring(block, group, in, out, mega);
    };
    const auto direct_gather = [](B& block, const Group& group, W out, W in) {
      all_gather_direct(block, group, in, out, mega);
    };
    const auto ring = [](B& block, const Group& group, W out, W in) {
      all_reduce_ring(block, group, in, out, in.count, Max{});
    };
    const auto two_shot = [](B& block, const Group& group, W out, W in) {
      all_reduce_two_shot(block, group, in, out, in.count, Max{});
    };
    const double steps_us = (pes - 1) * share_us;
    EXPECT_NEAR(run(options, n, ring_gather).us, steps_us, 1e-2 * steps_us) << pes;
    EXPECT_NEAR(run(options, n, direct_gather).us, steps_us, 1e-2 * steps_us) << pes;
    EXPECT_NEAR(run(options, n, ring).us, 2 * steps_us, 1e-2 * steps_us) << pes;
    EXPECT_NEAR(run(options, n, two_shot).us, 2 * steps_us, 1e-2 * steps_us) << pes;
  }
}

// A round of ping-pong costs twice what a ring of two costs for one step.
TEST(SimAnswers, TwoPesAreAPingPong) {
  const auto rounds = [](int count) {
    return [count](B& block, const Group& group, W out, W in) {
      const Signals& steps = group.channel.steps;
      const int peer = 1 - block.pe();
      for (int i = 0; i < 2 * count; ++i) {
        if (i % 2 == block.pe()) {
          block.fence(peer);
          block.put_signal(out, in, in.all(), steps, 0, peer);
        } else {
          block.wait_until(steps, 0, group.team.only(peer));
        }
      }
    };
  };
  const auto ring = [](int count) {
    return [count](B& block, const Group& group, W out, W in) {
      const Signals& steps = group.channel.steps;
      const int peer = 1 - block.pe();
      for (int i = 0; i < count; ++i) {
        block.fence(peer);
        block.put_signal(out, in, in.all(), steps, 0, peer);
        block.wait_until(steps, 0, group.team.only(peer));
      }
    };
  };
  const SimOptions options = on("h200x2");
  const double round = run(options, mega, rounds(5)).us - run(options, mega, rounds(4)).us;
  const double step = run(options, mega, ring(5)).us - run(options, mega, ring(4)).us;
  EXPECT_GT(step, static_cast<double>(mega) / options.machine.number("port_gbps") * 1e-3);
  EXPECT_NEAR(round, 2 * step, 1e-9 * round);
}

// Simulated time comes from verbs alone.
TEST(SimAnswers, OnePutMoreCostsExactlyThatPut) {
  const SimOptions node = on("dgx-h100");
  const double port_us = node.machine.number("load_local_us") +  // what lanes put they load first
                         static_cast<double>(mega) / (node.machine.number("port_gbps") * 1e3);
  for (int times = 1; times < 4; ++times) {
    EXPECT_NEAR(run(node, mega, puts(1, times + 1)).us - run(node, mega, puts(1, times)).us,
                port_us, 1e-9);
  }
  const SimOptions two = on("dgx-h100*2");
  const double nic_us = static_cast<double>(mega) / (two.machine.number("nic_gbps") * 1e3);
  EXPECT_NEAR(run(two, mega, puts(8, 2)).us - run(two, mega, puts(8, 1)).us, nic_us, 1e-9);
}

TEST(SimAnswers, EachPortCarriesTheBytesOfItsPuts) {
  for (const char* name : {"dgx-h100", "dgx-h100*2", "mi300x"}) {
    const SimOptions options = on(name);
    const int pes = options.machine.pes();
    const double all = 1000.0 * pes * (pes + 1) / 2;  // to each PE once
    const Timed timed = run(options, 1000 * static_cast<std::size_t>(pes), unequal_all_to_all);
    double into_nodes = 0, into_gpus = 0;
    for (const LinkLoad& link : timed.report.links) {
      EXPECT_LE(link.bytes, link.bytes_per_s * timed.report.end_us * 1e-6 * (1 + 1e-9))
          << link.name;
      const bool in = link.name.find("nvswitch>gpu") != std::string::npos ||
                      link.name.find(" in") != std::string::npos;
      if (in) into_gpus += link.bytes;
      if (link.name.find("nic") < link.name.find('>')) into_nodes += link.bytes;
    }
    const int node = options.machine.gpus_per_node;
    double within = 0;
    for (int from = 0; from < pes; ++from)
      for (int to = 0; to < pes; ++to)
        within += from / node == to / node && from != to ? 1000.0 * (to + 1) : 0;
    EXPECT_EQ(into_gpus, within) << name;
    EXPECT_EQ(into_nodes, (pes - 1) * all - within) << name;
  }
}

TEST(SimAnswers, TheCriticalPathIsAsLongAsTheRun) {
  for (const char* name : {"h200x2", "dgx-h100", "dgx-h100*4"}) {
    const Timed timed = run(on(name), mega, all_reduce);
    const double us = 1e6 * std::accumulate(timed.report.path.begin(), timed.report.path.end(), 0.0,
                                            [](double sum, const Trail::Stretch& stretch) {
                                              return sum + stretch.seconds;
                                            });
    EXPECT_NEAR(us, timed.report.end_us, 1e-9 * us) << name;
    EXPECT_FALSE(timed.report.explanation.empty());
  }
}

// The longest stretch of the path, and what it waited for.
const Trail::Stretch& longest(const Timed& timed) {
  return *std::max_element(timed.report.path.begin(), timed.report.path.end(),
                           [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
}

TEST(SimAnswers, TheCriticalPathNamesWhatHoldsItBack) {
  const auto one_block = [](B& block, const Group&, W out, W in) {
    if (block.pe() == 0) block.put(out, in, in.all(), 1);
    block.quiet();
  };
  SimOptions slow = on("dgx-h100");
  slow.machine.numbers.at("sm_write_gbps").value = 0.5;
  EXPECT_EQ(longest(run(slow, mega, one_block)).end.why, Why::block);

  const Timed port = run(on("dgx-h100"), 10 * mega, puts(3));
  EXPECT_EQ(longest(port).end.why, Why::link);
  EXPECT_EQ(port.report.links[static_cast<std::size_t>(longest(port).end.link)].name,
            "node 0 gpu0>nvswitch");
  EXPECT_EQ(longest(port).end.verb, fiber::Verb::put);

  const Timed nic = run(on("dgx-h100*2"), 10 * mega, puts(8));
  EXPECT_EQ(nic.report.links[static_cast<std::size_t>(longest(nic).end.link)].name,
            "node 0 gpu0>nic0");
  EXPECT_NE(nic.report.explanation[0].find("bound by  NIC"), std::string::npos);
  EXPECT_EQ(longest(run(on("dgx-h100*2"), 16, puts(8))).end.why, Why::latency);
}

TEST(SimAnswers, MoreOfAnythingIsNeverSlower) {
  for (const char* name : {"dgx-h100*4", "dgx-a100*2", "mi300x", "dgx-h100-fat-tree"}) {
    SimOptions options = on(name);
    if (options.machine.pes() > 64) options.pes = 64;
    const double before = run(options, mega, all_reduce).us;
    for (const char* what : {"nic=1.5x", "nvlink=1.5x", "hbm=2x", "sm=2x", "latency=0.5x"}) {
      SimOptions better = options;
      try {
        better.machine = models::what_if(options.machine, what);
      } catch (const std::invalid_argument&) {
        continue;  // a machine without such links
      }
      EXPECT_LE(run(better, mega, all_reduce).us, before * (1 + 1e-9)) << name << " " << what;
    }
  }
}

// --- disturbances --------------------------------------------------------------------------------

SimOptions with(const std::string& machine, const std::string& disturbances) {
  SimOptions options = on(machine);
  add_disturbances(options.disturbance, disturbances);
  return options;
}
// Microseconds of the flow alone: the difference between two puts and one.
double put_us(const SimOptions& options, int peer) {
  return run(options, mega, puts(peer, 2)).us_of_0 - run(options, mega, puts(peer, 1)).us_of_0;
}

TEST(Disturbance, WhatIsSlowTakesAsMuchLonger) {
  const double nic = put_us(on("dgx-h100*2"), 8);
  const double load = on("dgx-h100").machine.number("load_local_us");
  const double port = put_us(on("dgx-h100"), 1);
  const double thrice = load + 3 * (port - load);
  EXPECT_NEAR(put_us(with("dgx-h100*2", "slow_nic=0:4"), 8), 4 * nic, 1e-6 * nic);
  EXPECT_NEAR(put_us(with("dgx-h100*2", "slow_nic=8:4"), 8), 4 * nic, 1e-6 * nic);
  EXPECT_NEAR(put_us(with("dgx-h100*2", "slow_nic=1:4"), 8), nic, 1e-6 * nic);
  EXPECT_NEAR(put_us(with("dgx-h100", "slow_link=0-1:3"), 1), thrice, 1e-6 * port);
  EXPECT_NEAR(put_us(with("dgx-h100", "slow_link=1-0:3"), 1), thrice, 1e-6 * port);
  EXPECT_NEAR(put_us(with("dgx-h100", "slow_link=0-2:3"), 1), port, 1e-6 * port);
  // 32 blocks that write 45.7 GB/s each are 16 times as slow, and then below the port.
  const double blocks_us = 16 * load + static_cast<double>(mega) / (45.7e3 / 16 * blocks);
  EXPECT_NEAR(put_us(with("dgx-h100", "slow_gpu=0:16"), 1), blocks_us, 1e-6 * port);
  EXPECT_NEAR(put_us(with("dgx-h100", "slow_gpu=1:16"), 1), port, 1e-6 * port);
}

TEST(Disturbance, BackgroundTrafficHasItsShareAndNoMore) {
  const double nic = put_us(on("dgx-h100*2"), 8);
  const double alone = run(on("dgx-h100*2"), mega, puts(8)).us;
  const auto longer = [&](const char* background) {
    return run(with("dgx-h100*2", background), mega, puts(8)).us - alone;
  };
  EXPECT_NEAR(longer("background=0-8:1000"), nic, 1e-6 * nic);
  EXPECT_NEAR(longer("background=0-8:10"), nic * 10 / 38.5, 1e-6 * nic);
  EXPECT_NEAR(longer("background=1-9:1000"), 0, 1e-6 * nic);
}

TEST(Disturbance, PlacementSaysWhichPairsShareANode) {
  SimOptions options = on("dgx-h100*2");
  options.placement = parse_placement("round_robin", 16, options.machine);
  const double nic = put_us(on("dgx-h100*2"), 8);
  EXPECT_NEAR(put_us(options, 1), nic, 1e-9);
  EXPECT_LT(put_us(options, 2), nic / 2);
  options.pes = 3;
  options.placement = parse_placement("15,0,14", 3, options.machine);
  EXPECT_LT(put_us(options, 2), nic / 2);
  EXPECT_NEAR(put_us(options, 1), nic, 1e-9);
  for (const char* bad : {"0,1", "0,0,1", "0,1,16", "0,1,x", "odd"})
    EXPECT_THROW((void)parse_placement(bad, 3, options.machine), UsageError) << bad;
}

TEST(Disturbance, JitterIsSeeded) {
  SimOptions options = on("dgx-h100*2");
  const double without = run(options, mega, all_reduce).us;
  options.disturbance.jitter_sigma = parse_jitter("lognormal:0.3");
  const double first = run(options, mega, all_reduce).us;
  EXPECT_EQ(run(options, mega, all_reduce).us, first);
  EXPECT_NE(first, without);
  options.disturbance.seed = 2;
  EXPECT_NE(run(options, mega, all_reduce).us, first);
  // A median of 1: of many single puts as many are faster as slower, about.
  const double one = run(on("h200x2"), 16, puts(1)).us;
  int slower = 0;
  SimOptions small = on("h200x2");
  small.disturbance.jitter_sigma = 0.3;
  for (small.disturbance.seed = 1; small.disturbance.seed <= 200; ++small.disturbance.seed)
    slower += run(small, 16, puts(1)).us > one ? 1 : 0;
  EXPECT_GT(slower, 70);
  EXPECT_LT(slower, 180);  // a sum of such delays is a little above its median
}

TEST(Disturbance, RefusesNonsense) {
  for (const char* bad : {"slow_gpu=1", "slow_gpu=1:0.5", "slow_gpu=x:2", "slow_link=1:2",
                          "slow_link=1-1:2", "background=0-1:0", "background=0-1:x", "fast=1:2"}) {
    Disturbance all;
    EXPECT_THROW(add_disturbances(all, bad), UsageError) << bad;
  }
  for (const char* bad : {"slow_gpu=8:2", "background=0-9:2", "slow_nic=0:2"})
    EXPECT_THROW(run(with("dgx-h100", bad), 16, puts(1)), UsageError) << bad;
  for (const char* bad : {"lognormal", "lognormal:0", "lognormal:x", "normal:1"})
    EXPECT_THROW((void)parse_jitter(bad), UsageError) << bad;
}

}  // namespace
}  // namespace sym::sim
