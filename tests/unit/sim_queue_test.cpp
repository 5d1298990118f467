// What operations of a queue take in the simulator, and pieces of warps, to the last digit.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "core/error.hpp"
#include "models/gemm_time.hpp"
#include "sim/child.hpp"
#include "sim/network.hpp"
#include "sim/run.hpp"

namespace sym::sim {
namespace {

using fiber::FiberWorld;

const models::Machine& machine() {
  static const models::Machine one = models::load_machine("dgx-h100*2");
  return one;
}
double us(const char* key) { return machine().number(key); }
double rate(const char* key) { return machine().number(key) * 1e3; }  // bytes a microsecond

// The time of what PE 0 does, and how many flows it took.
struct Took {
  double us = 0;
  double flows = 0;
};
using Setup = std::function<std::function<void()>(FiberWorld&)>;

// `setup` runs on every PE, and what it returns is timed.
Took took(const std::string& network, int pes, const Setup& setup) {
  const std::string bytes = run_in_child([&] {
    SimOptions options;
    options.machine = machine();
    options.pes = pes;
    options.network = network;
    options.data = false;
    Took result;
    const SimReport report = run_sim(options, [&](FiberWorld& world) {
      const std::function<void()> timed = setup(world);
      world.barrier();
      const double begin = world.mark_us();
      timed();
      world.synchronize();
      if (world.pe() == 0) result.us = world.mark_us() - begin;
    });
    if (!report.findings.empty()) throw Failure(report.findings[0].text);
    result.flows = static_cast<double>(report.flows);
    return std::string(reinterpret_cast<const char*>(&result), sizeof(result));
  });
  Took result;
  std::memcpy(&result, bytes.data(), sizeof(result));
  return result;
}

void expect_took(const Took& got, double wanted_us, double flows) {
  EXPECT_NEAR(got.us, wanted_us, 1e-6 * wanted_us);
  EXPECT_EQ(got.flows, flows);
}

class SimQueue : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (GetParam() == "simgrid" && !have_simgrid()) GTEST_SKIP() << "this build has no SimGrid";
  }
  // PE 0 copies `rows` rows of n bytes, of every second byte range of a window, from or to `peer`.
  Took copy(int pes, int peer, std::size_t rows, std::size_t n, bool gets) {
    return took(GetParam(), pes, [=](FiberWorld& world) -> std::function<void()> {
      const auto to = world.allocate<std::uint8_t>(rows * n);
      const auto from = world.allocate<std::uint8_t>(2 * rows * n);
      return [=, &world] {
        if (world.pe() != 0) return;
        const Matrix<std::uint8_t> dst{to, rows, n, n};
        const Matrix<std::uint8_t> src{from, rows, n, rows == 1 ? n : 2 * n};
        if (gets) world.queue(0).get(dst, src, peer);
        if (!gets) world.queue(0).put(dst, src, peer);
      };
    });
  }
};
INSTANTIATE_TEST_SUITE_P(Networks, SimQueue, testing::Values("ports", "simgrid"),
                         [](const auto& one) { return one.param; });

TEST_P(SimQueue, OneRowTakesTheStartAndBytesOverTheCopyEngine) {
  for (const std::size_t n : {std::size_t{16}, std::size_t{1} << 16, std::size_t{1} << 30}) {
    const double wanted =
        us("copy_engine_start_us") + static_cast<double>(n) / rate("copy_engine_gbps");
    expect_took(copy(2, 1, 1, n, false), wanted, 1);
    expect_took(copy(2, 1, 1, n, true), wanted, 1);
  }
}

TEST_P(SimQueue, RowsAreOneFlow) {
  const double wanted = us("copy_engine_start_us") + 1e6 / rate("copy_engine_gbps");
  expect_took(copy(2, 1, 1000, 1000, true), wanted, 1);
}

TEST_P(SimQueue, ALocalCopyReadsAndWritesMemory) {
  expect_took(copy(2, 0, 10, 100000, false), us("copy_engine_start_us") + 2e6 / rate("hbm_gbps"),
              0);
}

TEST_P(SimQueue, RowsThroughANicArePostedOneByOne) {
  const double wanted = us("copy_engine_start_us") + 10 * us("nic_post_us") +
                        1e6 / rate("nic_gbps") + us("nic_latency_us");
  expect_took(copy(9, 8, 10, 100000, false), wanted, 1);
}

// SM copies and the copy engine share a port; alone, each has its own rate.
TEST_P(SimQueue, TwoCopiesShareThePort) {
  constexpr std::size_t n = 1 << 26;
  const Took got = took(GetParam(), 3, [](FiberWorld& world) -> std::function<void()> {
    const auto to = world.allocate<std::uint8_t>(n);
    const auto from = world.allocate<std::uint8_t>(n);
    return [=, &world] {
      if (world.pe() != 0) return;
      world.queue(0).put(row_of(to, 0, n), row_of(from, 0, n), 1);
      world.queue(1).put(row_of(to, 0, n), row_of(from, 0, n), 2);
    };
  });
  expect_took(
      got, us("copy_engine_start_us") + 2 * static_cast<double>(n) / rate("copy_engine_gbps"), 2);
}

TEST_P(SimQueue, PostAndTake) {
  for (const int peer : {1, 8}) {
    const Took got = took(GetParam(), 9, [=](FiberWorld& world) -> std::function<void()> {
      const Posts posts = world.posts(1);
      return [=, &world] {
        if (world.pe() == peer) world.queue(0).post(posts, 0, 0);
        if (world.pe() == 0) world.queue(0).take(posts, 0, peer);
      };
    });
    const double there = peer == 8 ? us("nic_latency_us") : us("flag_us");
    expect_took(got, us("launch_us") + there + us("load_local_us"), 0);
  }
}

// m x n x k with c of a peer or none, at the end of a queue.
Took product(const std::string& network, std::size_t m, std::size_t n, std::size_t k, bool far) {
  return took(network, 2, [=](FiberWorld& world) -> std::function<void()> {
    const auto a = world.allocate<bf16>(m * k);
    const auto b = world.allocate<bf16>(n * k);
    const auto c = world.allocate<bf16>(m * n);
    const auto d = world.allocate<bf16>(m * n);
    return [=, &world] {
      if (world.pe() != 0) return;
      Gemm<bf16> gemm{{a, m, k, k}, {b, n, k, k}, {}, {d, m, n, n}, 0, {}};
      if (far) gemm.beta = 1;
      if (far) gemm.c = {{c, m, n, n}, 1};
      world.queue(0).gemm(gemm);
    };
  });
}
TEST_P(SimQueue, AGemmIsItsModelUnlessItsPeersOperandTakesLonger) {
  const double large = us("launch_us") + models::gemm_us(machine(), 4096, 4096, 4096);
  expect_took(product(GetParam(), 4096, 4096, 4096, false), large, 0);
  expect_took(product(GetParam(), 4096, 4096, 4096, true), large, 1);  // 34 MB in 104 of 160 us
  const double bytes = 2.0 * 4096 * 4096;
  expect_took(product(GetParam(), 4096, 4096, 64, true),
              us("launch_us") + us("load_remote_us") + bytes / rate("port_read_gbps"), 1);
}

// Marks are free: two products on two queues, the second behind the first.
TEST_P(SimQueue, MarksTakeNoTime) {
  const Took got = took(GetParam(), 2, [](FiberWorld& world) -> std::function<void()> {
    const auto a = world.allocate<bf16>(4096);
    const auto d = world.allocate<bf16>(4096);
    return [=, &world] {
      const Matrix<bf16> x{a, 64, 64, 64};
      const Gemm<bf16> gemm{x, x, {}, {d, 64, 64, 64}, 0, {}};
      world.queue(1).gemm(gemm);
      world.queue(0).after(world.queue(1).record());
      world.queue(0).gemm(gemm);
    };
  });
  expect_took(got, 2 * (us("launch_us") + models::gemm_us(machine(), 64, 64, 64)), 0);
}

struct PutSignalThenRead {
  Window<std::uint8_t> to, from;
  Signals steps;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    if (block.pe() != 0) return;
    block.put_signal(to, from, Range{0, to.count}, steps, 0, 1);
    for (int i = 0; i < 100; ++i) (void)block.read(from, 0);  // longer than the flag's way
  }
};
TEST_P(SimQueue, ABlockWaitsUntilThePayloadOfItsSignalIsThere) {
  constexpr std::size_t bytes = 80000;
  const Took got = took(GetParam(), 2, [](FiberWorld& world) -> std::function<void()> {
    const auto to = world.allocate<std::uint8_t>(bytes);
    const auto from = world.allocate<std::uint8_t>(bytes);
    const Signals steps = world.channel({1}).steps;
    return [=, &world] { world.launch({.name = "rows"}, PutSignalThenRead{to, from, steps}); };
  });
  expect_took(got,
              us("launch_us") + us("ramp_us") + 2 * us("load_local_us") +  // epoch, source
                  bytes / rate("sm_write_gbps") + us("release_us") + 100 * us("load_local_us"),
              1);
}

// --- pieces of warps -----------------------------------------------------------------------------

struct PutRows {
  Window<std::uint8_t> to, from;
  std::size_t row;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    if (block.pe() != 0) return;
    const auto dst = to;
    const auto src = from;
    const std::size_t bytes = row;
    const int pes = block.n_pes();
    block.warps(to.count / row, [=](auto& piece, std::size_t i) {
      piece.put(dst, src, Range{i * bytes, bytes}, 1 + static_cast<int>(i) % (pes - 1));
    });
    block.quiet();
  }
};
TEST_P(SimQueue, WhatWarpsPutToOnePeIsOneFlow) {
  constexpr std::size_t rows = 400;
  for (const auto& [far, row] :
       {std::pair{false, std::size_t{10000}},
        {true, std::size_t{10000}},
        {true, std::size_t{16}}}) {  // 4 peers in the node, or 8 of which one is not
    const Took got =
        took(GetParam(), far ? 9 : 5, [bytes = row](FiberWorld& world) -> std::function<void()> {
          const auto to = world.allocate<std::uint8_t>(rows * bytes);
          const auto from = world.allocate<std::uint8_t>(rows * bytes);
          return [=, &world] { world.launch({.name = "rows"}, PutRows{to, from, bytes}); };
        });
    const double start = us("launch_us") + us("ramp_us") + us("sync_us");
    const double sent = static_cast<double>(rows * row);
    // Seven of eight, or all, by the block's own lanes; the rest beside it.
    const double out = us("load_local_us") + (far ? 7.0 / 8 : 1.0) * sent / rate("sm_write_gbps") +
                       us("release_us");
    const double nic = static_cast<double>(rows) / 8 * us("nic_post_us") +
                       sent / 8 / rate("nic_gbps") + us("nic_latency_us");
    expect_took(got, start + (far ? std::max(out, nic) : out) + us("sync_us"), far ? 8 : 4);
  }
}

struct Sums {
  Window<float> to, from;
  std::size_t row;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    if (block.pe() != 0) return;
    const auto dst = to;
    const auto src = from;
    const std::size_t count = row;
    const int pes = block.n_pes();
    block.warps(to.count / row, [=](auto& piece, std::size_t i) {
      piece.weighted_sum(dst.at(i * count), src, Range{0, count}, 2, [=](int j) {
        const int pe = 1 + (static_cast<int>(i) + j) % (pes - 1);
        return Term{pe, i * count, 1.0F};
      });
    });
  }
};
TEST_P(SimQueue, WhatWarpsFetchFromOnePeIsOneFlow) {
  constexpr std::size_t rows = 300;
  constexpr std::size_t row = 1000;
  const Took got = took(GetParam(), 4, [](FiberWorld& world) -> std::function<void()> {
    const auto to = world.allocate<float>(rows * row);
    const auto from = world.allocate<float>(rows * row);
    return [=, &world] { world.launch({.name = "sums"}, Sums{to, from, row}); };
  });
  const double read = 2.0 * 4 * rows * row / rate("sm_read_gbps");
  expect_took(got,
              us("launch_us") + us("ramp_us") + 2 * us("sync_us") + us("load_remote_us") + read, 3);
}

}  // namespace
}  // namespace sym::sim
