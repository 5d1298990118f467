// The two flow solvers: closed forms where there are any, an independent oracle where there are
// none, and each other.
#include "sim/network.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "network_scenarios.hpp"

namespace sym::sim {
namespace {

class EachNetwork : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (GetParam() == "simgrid" && !have_simgrid()) GTEST_SKIP() << "this build has no SimGrid";
  }
};
INSTANTIATE_TEST_SUITE_P(Networks, EachNetwork, testing::Values("ports", "simgrid"),
                         [](const auto& param) { return param.param; });

constexpr double exact = 1e-9;  // relative

TEST_P(EachNetwork, BytesTakeBytesOverBandwidth) {
  for (const double bytes : {1.0, 1e3, 1e6, 1e9, 1e12}) {
    Scenario s{{bw, 2 * bw}, {{0, {7, {0, 1}, bytes, no_rate_cap}}}, {}, 1};
    const double slack_s = 1e-12;  // SimGrid's clock
    EXPECT_NEAR(run(GetParam(), s).at(7), bytes / bw, exact * bytes / bw + slack_s) << bytes;
  }
}

// Copies are counted in the room that they take in a port, which is no whole number of bytes.
TEST_P(EachNetwork, PartsOfABytePass) {
  Scenario s{{bw}, {{0, {7, {0}, 10000.5, bw / 8}}}, {}, 1};
  EXPECT_NEAR(run(GetParam(), s).at(7), 10000.5 / (bw / 8), 2e-12);
}

// What stands for traffic that never ends takes its share to the end of a run.
TEST_P(EachNetwork, AFlowOfAllBytesThereAreDoesNotEnd) {
  const std::string said = in_child([] {
    const auto net = make(GetParam(), {bw});
    net->run([&] {
      net->start({1, {0}, 1e18, no_rate_cap});
      net->start({2, {0}, 1e9, no_rate_cap});
      EXPECT_EQ(net->advance(infinity), std::vector<FlowId>{2});
      EXPECT_NEAR(net->now(), 0.02, 1e-11);
    });
    return std::string();
  });
}

TEST_P(EachNetwork, TwoFlowsShareALink) {
  Scenario s{{bw, bw, bw},
             {{0, {1, {0, 1}, 1e9, no_rate_cap}}, {0, {2, {0, 2}, 3e9, no_rate_cap}}},
             {},
             1};
  expect_same(run(GetParam(), s), {{1, 0.02}, {2, 0.04}}, exact);
}

TEST_P(EachNetwork, LeftoverOfOneLinkGoesToTheOther) {
  // Flow 1 is held to bw/4 by link 1; flow 2 takes the other 3/4 of link 0.
  Scenario s{
      {bw, bw / 4}, {{0, {1, {0, 1}, 1e9, no_rate_cap}}, {0, {2, {0}, 3e9, no_rate_cap}}}, {}, 1};
  expect_same(run(GetParam(), s), {{1, 0.04}, {2, 0.04}}, exact);
}

TEST_P(EachNetwork, RateCapHoldsAndItsLeftoverIsUsed) {
  Scenario s{
      {bw},
      {{0, {1, {0}, 1e9, bw / 10}}, {0, {2, {0}, 9e9, no_rate_cap}}, {0, {3, {0}, 1e9, 2 * bw}}},
      {},
      1};
  // 1 at bw/10 for 0.1 s; 2 and 3 share 0.9 bw until 3 ends at 1/45 s; 2 ends when all 11 GB are
  // over.
  expect_same(run(GetParam(), s), {{1, 0.1}, {2, 11e9 / bw}, {3, 1.0 / 45}}, exact);
}

TEST_P(EachNetwork, RingOf8RunsAtPortSpeed) {
  Scenario s{std::vector<double>(16, bw), {}, {}, 1};
  Ends expected;
  for (int pe = 0; pe < 8; ++pe) {
    s.timed.push_back({0, {static_cast<FlowId>(pe), ports(pe, (pe + 1) % 8, 8), 1e8, no_rate_cap}});
    expected[static_cast<FlowId>(pe)] = 1e8 / bw;
  }
  expect_same(run(GetParam(), s), expected, exact);
}

TEST_P(EachNetwork, AllToAllOf8WithASizePerDestination) {
  // Seven flows share each way in and keep bw/7 to their end, whoever else has ended.
  Scenario s{std::vector<double>(16, bw), {}, {}, 1};
  Ends expected;
  for (int src = 0; src < 8; ++src)
    for (int dst = 0; dst < 8; ++dst) {
      if (src == dst) continue;
      const auto id = static_cast<FlowId>(src * 8 + dst);
      s.timed.push_back({0, {id, ports(src, dst, 8), 1e7 * (1 + dst), no_rate_cap}});
      expected[id] = 7e7 * (1 + dst) / bw;
    }
  expect_same(run(GetParam(), s), expected, exact);
}

TEST_P(EachNetwork, StaggeredStarts) {
  Scenario s{{bw}, {{0, {1, {0}, 1e9, no_rate_cap}}, {0.004, {2, {0}, 1e9, no_rate_cap}}}, {}, 1};
  s.timed.push_back(
      {0.5, {3, {0}, 1e9, no_rate_cap}});  // after a pause in which nothing is in flight
  expect_same(run(GetParam(), s), {{1, 0.016}, {2, 0.02}, {3, 0.51}}, exact);
}

TEST_P(EachNetwork, EqualFlowsEndTogether) {
  const std::string said = in_child([] {
    const auto net = make(GetParam(), std::vector<double>(48, bw / 3));
    std::string counts;
    net->run([&] {
      for (int f = 23; f >= 0; --f)
        net->start({static_cast<FlowId>(f), ports(f, f, 24), 1e7, bw / 7});
      counts = std::to_string(net->advance(infinity).size());
      counts += " " + std::to_string(net->in_flight());
    });
    return counts;
  });
  EXPECT_EQ(said, "24 0");
}

TEST_P(EachNetwork, TimeStopsAtUntil) {
  const std::string said = in_child([] {
    const auto net = make(GetParam(), {bw});
    net->run([&] {
      EXPECT_TRUE(net->advance(1.5).empty());
      EXPECT_EQ(net->now(), 1.5);
      net->start({1, {0}, 1e9, no_rate_cap});
      EXPECT_TRUE(net->advance(1.5).empty());  // no time passes
      EXPECT_TRUE(net->advance(1.505).empty());
      EXPECT_EQ(net->now(), 1.505);
      EXPECT_TRUE(net->advance(1.505 + 1e-14).empty());  // less than SimGrid can sleep
      EXPECT_EQ(net->in_flight(), 1u);
      EXPECT_EQ(net->advance(infinity), std::vector<FlowId>{1});
      EXPECT_NEAR(net->now(), 1.51, 1e-11);
    });
    return std::string();
  });
}

// 2^30 bytes at 2^36 B/s end at exactly 2^-6 s: an end at `until` is an end, not a timeout.
TEST_P(EachNetwork, AnEndAtUntilIsReported) {
  const std::string said = in_child([] {
    const auto net = make(GetParam(), {0x1p36, 0x1p36});
    net->run([&] {
      net->start({1, {0}, 0x1p30, no_rate_cap});
      net->start({2, {1}, 0x1p30, 0x1p35});
      EXPECT_EQ(net->advance(0x1p-6), std::vector<FlowId>{1});
      EXPECT_EQ(net->now(), 0x1p-6);
      EXPECT_EQ(net->advance(0x1p-5), std::vector<FlowId>{2});
    });
    return std::string();
  });
}

TEST_P(EachNetwork, RefusesNonsenseAndPassesExceptionsOn) {
  const std::string said = in_child([] {
    EXPECT_THROW(make(GetParam(), {bw, 0}), std::invalid_argument);
    const auto net = make(GetParam(), {bw, bw});
    try {
      net->run([&] {
        EXPECT_THROW(net->start({1, {}, 1, no_rate_cap}), std::invalid_argument);
        EXPECT_THROW(net->start({1, {2}, 1, no_rate_cap}), std::invalid_argument);
        EXPECT_THROW(net->start({1, {1, 1}, 1, no_rate_cap}), std::invalid_argument);
        EXPECT_THROW(net->start({1, {0}, 0, no_rate_cap}), std::invalid_argument);
        EXPECT_THROW(net->start({1, {0}, 1, 0}), std::invalid_argument);
        EXPECT_THROW(net->advance(-1), std::invalid_argument);
        EXPECT_THROW(net->advance(infinity), std::logic_error);
        for (FlowId f = 0; f < 100; ++f) net->start({f, {0}, 1e9, f % 2 ? no_rate_cap : bw / 1000});
        net->advance(1e-6);
        throw std::runtime_error("from the body, with flows in flight");
      });
    } catch (const std::runtime_error& error) {
      return std::string(error.what());
    }
    return std::string("nothing was thrown");
  });
  EXPECT_EQ(said, "from the body, with flows in flight");
}

TEST_P(EachNetwork, AgreesWithTheOracleOnRandomScenarios) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    const Scenario s = random_scenario(seed, 3 + static_cast<int>(seed), 60);
    expect_same(run(GetParam(), s), ask_oracle(s), 1e-8);
  }
}

TEST_P(EachNetwork, RerunsAreBitIdentical) {
  const Scenario s = random_scenario(99, 12, 100);
  EXPECT_EQ(run_ends(GetParam(), s), run_ends(GetParam(), s));
}

TEST_P(EachNetwork, Conservation) {
  for (unsigned seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE(seed);
    // A busy link moves its bytes in bytes/bandwidth, in whatever portions.
    std::mt19937_64 random(seed);
    Scenario one{{bw}, {}, {}, 1};
    double total = 0, last = 0;
    for (FlowId f = 0; f < 40; ++f) {
      const double bytes = static_cast<double>(1'000'000 + random() % 50'000'000);
      one.timed.push_back(
          {f == 0 ? 0 : 1e-5 * static_cast<double>(random() % 20), {f, {0}, bytes, no_rate_cap}});
      total += bytes;
    }
    for (const auto& [id, time] : run(GetParam(), one)) last = std::max(last, time);
    if (one.timed[0].second.bytes / bw > 2e-4) {  // the first flow bridges to the latest start
      EXPECT_NEAR(last, total / bw, exact * last);
    }
    // No link has moved more by any end than it could.
    const Scenario many = random_scenario(seed, 8, 50);
    const Ends ends = run(GetParam(), many);
    for (const auto& [ignored, time] : ends)
      for (std::size_t link = 0; link < many.links.size(); ++link) {
        double moved = 0;
        for (const auto& [at, flow] : many.timed)
          if (std::count(flow.links.begin(), flow.links.end(), static_cast<int>(link)) > 0 &&
              ends.at(flow.id) <= time)
            moved += flow.bytes;
        EXPECT_LE(moved, many.links[link] * time * (1 + exact));
      }
  }
}

// Max-min is not monotone in one link's bandwidth: a flow that gets faster there takes more
// elsewhere. What holds: one link, any starts, flow by flow; and all of a network at once, where
// time just scales.
TEST_P(EachNetwork, MoreBandwidthIsNeverSlower) {
  for (unsigned seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE(seed);
    Scenario slow = random_scenario(seed, 1, 40);
    Scenario fast = slow;
    fast.links[0] *= 1.25;
    const Ends slow_ends = run(GetParam(), slow), fast_ends = run(GetParam(), fast);
    for (const auto& [id, time] : slow_ends)
      EXPECT_LE(fast_ends.at(id), time * (1 + exact)) << "flow " << id;

    Scenario net = random_scenario(seed, 9, 60), doubled = net;
    for (double& link : doubled.links) link *= 2;
    for (auto& [at, flow] : doubled.timed) at /= 2, flow.rate_cap_bytes_per_s *= 2;
    Ends half = run(GetParam(), net);
    for (auto& [id, time] : half) time /= 2;
    expect_same(run(GetParam(), doubled), half, 1e-8);
  }
}

// Why a run can be shorter with a slower link. Flows 1 and 2 share link 1, and 3 follows 2. Where
// link 0 holds 1 back, 2 ends sooner, and with it 3; 1 had time.
TEST_P(EachNetwork, ASlowerLinkCanEndARunSooner) {
  for (const auto& [first, end_s] : {std::pair{bw, 0.06}, std::pair{bw / 4, 1.0 / 75 + 0.04}}) {
    Scenario s{{first, bw, bw}, {}, {}, 1};
    s.streams = {{{1, {0, 1}, 1e9, no_rate_cap}},
                 {{2, {1}, 1e9, no_rate_cap}, {3, {2}, 4e9, no_rate_cap}}};
    double last = 0;
    for (const auto& [id, time] : run(GetParam(), s)) last = std::max(last, time);
    EXPECT_NEAR(last, end_s, exact * end_s);
  }
}

// A cap is of its own flow: the one that follows on the same courier has none.
TEST_P(EachNetwork, CapsDoNotOutliveTheirFlow) {
  Scenario s{{bw}, {}, {{{1, {0}, 1e9, bw / 4}, {2, {0}, 1e9, no_rate_cap}}}, 1};
  expect_same(run(GetParam(), s), {{1, 0.04}, {2, 0.05}}, exact);
}

// The second half starts while the first is under way.
TEST_P(EachNetwork, ThousandsInFlight) {
  Scenario s{std::vector<double>(100, bw), {}, {}, 1};
  for (int f = 0; f < 2500; ++f)
    s.timed.push_back({f < 1250 ? 0 : 1e-6, {static_cast<FlowId>(f), {f % 100}, 1e6, no_rate_cap}});
  const Ends ends = run(GetParam(), s);
  expect_same(ends, ask_oracle(s), 1e-8);
  double last = 0;
  for (const auto& [id, time] : ends) last = std::max(last, time);
  EXPECT_NEAR(last, 25e6 / bw, exact * last);  // 25 flows on each link
}

TEST(PortsAgainstSimgrid, WindowedUnequalAllToAllOf16) {
  if (!have_simgrid()) GTEST_SKIP() << "this build has no SimGrid";
  for (const std::size_t window : {1u, 2u, 4u}) {
    SCOPED_TRACE(window);
    const Scenario s = windowed_all_to_all(5, 16, window);
    expect_same(run("ports", s), run("simgrid", s), 1e-6);
  }
}

TEST(Ports, AgreesWithTheOracleOnLargeComponents) {
  for (unsigned seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    const Scenario s = random_scenario(seed, 4 + static_cast<int>(seed), 150);
    expect_same(run("ports", s), ask_oracle(s), 1e-8);
  }
  const Scenario s = windowed_all_to_all(3, 24, 3);
  expect_same(run("ports", s), ask_oracle(s), 1e-8);
}

TEST(Simgrid, RunsOnceInAProcess) {
  if (!have_simgrid()) GTEST_SKIP() << "this build has no SimGrid";
  const std::string said = in_child([] {
    make_simgrid_network({bw})->run([] {});
    EXPECT_THROW(make_simgrid_network({bw})->run([] {}), std::logic_error);
    return std::string();
  });
}

TEST(Simgrid, DriverHasAStackForDeepCalls) {
  if (!have_simgrid()) GTEST_SKIP() << "this build has no SimGrid";
  const std::string said = in_child([] {
    make_simgrid_network({bw})->run([] {
      std::array<volatile char, 4 << 20> frame;
      frame.front() = 1;
      frame.back() = frame.front();
    });
    return std::string();
  });
}

}  // namespace
}  // namespace sym::sim
