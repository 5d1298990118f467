// Collectives by the copy engine in the simulator: without latency they take what their bytes take,
// and with it what their closed forms say.
#include <gtest/gtest.h>

#include "core/collective/copy_engine.hpp"
#include "core/collective/staged.hpp"
#include "models/times.hpp"
#include "sim/run.hpp"

namespace sym {
namespace {

using fiber::FiberWorld;

constexpr double gbps = 400;
constexpr int blocks = 64;

// Nothing takes time but links and copy engines, which are as fast.
models::Machine machine_of_links() {
  models::Machine machine = models::load_machine("dgx-h100");
  for (auto& [key, number] : machine.numbers) {
    if (key.ends_with("_us")) number.value = 0;
    if (key.starts_with("sm_") || key == "hbm_gbps") number.value = 1e9;
    if (key.starts_with("port_") || key.starts_with("copy_engine")) number.value = gbps;
  }
  machine.numbers.at("copy_engine_start_us").value = 0;
  return machine;
}

struct Call {
  std::string algorithm;
  int pes;
  std::size_t n;  // floats of a PE's input; of all_to_all and reduce_scatter of a row
  int pieces = 1;
  std::size_t head = 0;
  double shrink = 1;
};

// From its beginning to its end on the slowest PE.
double time_us(const models::Machine& machine, const Call& call) {
  sim::SimOptions options;
  options.machine = machine;
  options.pes = call.pes;
  options.network = "ports";
  options.data = false;
  double slowest = 0;
  const sim::SimReport report = sim::run_sim(options, [&](FiberWorld& world) {
    const std::size_t all = call.n * static_cast<std::size_t>(call.pes);
    const auto in = world.allocate<float>(all);
    const auto work = world.allocate<float>(all);
    const auto out = world.allocate<float>(all);
    const auto posts = world.posts(posts_of(call.pieces));
    const QueueGroup queues{Group{world.channel({blocks}), world.team()}, posts};
    const QueuePlan plan{
        call.pieces, {.name = "reduces", .blocks = blocks}, call.head, call.shrink};
    world.barrier();
    const double begin = world.mark_us();
    if (call.algorithm == "all_gather")
      all_gather_copy_engine(world, queues, in, out, call.n, plan);
    if (call.algorithm == "all_to_all")
      all_to_all_copy_engine(world, queues, in, out, call.n, plan);
    if (call.algorithm == "reduce_scatter")
      reduce_scatter_staged(world, queues, in, work, out, call.n, Sum{}, plan);
    if (call.algorithm == "all_reduce")
      all_reduce_staged(world, queues, in, work, out, call.n, Sum{}, plan);
    slowest = std::max(slowest, world.mark_us() - begin);
  });
  EXPECT_EQ(report.findings.size(), 0U);
  return slowest;
}

TEST(SimCopies, WithoutLatencyEachTakesItsBytesOverTheRate) {
  constexpr std::size_t n = std::size_t{1} << 22;
  for (const int pes : {2, 3, 8}) {
    const double row_us = static_cast<double>(n * sizeof(float)) / (gbps * 1e3);
    const auto near = [&](const Call& call, double rows) {
      const double time = time_us(machine_of_links(), call);
      EXPECT_NEAR(time, rows * row_us, 1e-3 * rows * row_us) << call.algorithm << " " << pes;
    };
    near({"all_gather", pes, n}, pes - 1);
    near({"all_to_all", pes, n}, pes - 1);
    near({"reduce_scatter", pes, n, 4}, pes - 1);
    // Of n elements a share each way, twice; the last piece goes out when nothing else does.
    const double most = 2.0 * (pes - 1) / pes;
    const double time = time_us(machine_of_links(), {"all_reduce", pes, n, 8});
    EXPECT_GE(time, 0.999 * most * row_us);
    EXPECT_LE(time, 1.13 * most * row_us);
  }
}

// What is in place and has no head is not worth a kernel: no block begins, nobody waits for it.
TEST(SimCopies, InPlaceBlocksHaveNothingToDo) {
  constexpr std::size_t n = 1 << 20;
  const auto switches = [&](bool in_place) {
    sim::SimOptions options;
    options.machine = machine_of_links();
    options.pes = 2;
    options.network = "ports";
    options.data = false;
    const sim::SimReport report = sim::run_sim(options, [&](FiberWorld& world) {
      const auto in = world.allocate<float>(n);
      const auto out = world.allocate<float>(2 * n);
      const auto posts = world.posts(posts_of(1));
      const QueueGroup queues{Group{world.channel({blocks}), world.team()}, posts};
      const auto own = out.at(static_cast<std::size_t>(world.pe()) * n);
      const QueuePlan plan{1, {.name = "copies", .blocks = blocks}, 0, 1};
      all_gather_copy_engine(world, queues, in_place ? own : in, out, n, plan);
      world.synchronize();
    });
    EXPECT_EQ(report.findings.size(), 0U);
    return report.switches;
  };
  // On each PE the kernel's beginning and its copy, and the four steps of two queues around it.
  EXPECT_GE(switches(false), switches(true) + 2 * 4) << switches(false) << " " << switches(true);
}

TEST(SimCopies, TheEstimateIsWhatTheSimulatorSays) {
  const models::Machine machine = models::load_machine("h200x2");
  for (const char* algorithm : {"all_gather", "all_to_all", "reduce_scatter", "all_reduce"}) {
    const std::string name = algorithm;
    const bool staged = name == "reduce_scatter" || name == "all_reduce";
    for (std::size_t bytes = std::size_t{1} << 20; bytes <= std::size_t{1} << 28; bytes *= 4) {
      const models::Job job{name, 2, static_cast<double>(bytes)};
      const char* variant = staged ? "staged" : "copy_engine";
      const int pieces = staged ? models::pieces_of_share(machine, job, variant, blocks) : 1;
      const double head = staged ? 0 : models::head_bytes(machine, job, blocks) / sizeof(float);
      const std::size_t n = bytes / sizeof(float) / (name == "all_reduce" ? 1 : 2);
      const double shrink = staged ? models::shrink_of(machine, 2) : 1;
      const double estimate = models::estimate(machine, job, variant, blocks).us;
      const double time =
          time_us(machine, {name, 2, n, pieces, static_cast<std::size_t>(head), shrink});
      EXPECT_NEAR(time, estimate, 0.15 * time) << name << " " << bytes;
    }
  }
}

TEST(SimCopies, TheEstimateKnowsLinksAndFlagsOfEightMembers) {
  for (const char* name : {"dgx-h100", "dgx1-v100", "pcie-8xa100", "mi300x"}) {
    const models::Machine machine = models::load_machine(name);
    for (const char* algorithm : {"all_gather", "all_to_all"}) {
      for (const std::size_t bytes : {std::size_t{1} << 24, std::size_t{1} << 28}) {
        const models::Job job{algorithm, 8, static_cast<double>(bytes)};
        const auto head = models::head_bytes(machine, job, blocks) / sizeof(float);
        const double estimate = models::estimate(machine, job, "copy_engine", blocks).us;
        const Call call{algorithm, 8, bytes / sizeof(float) / 8, 1, static_cast<std::size_t>(head)};
        const double time = time_us(machine, call);
        EXPECT_NEAR(time, estimate, 0.15 * time) << name << " " << algorithm << " " << bytes;
      }
    }
  }
}

}  // namespace
}  // namespace sym
