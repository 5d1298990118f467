// Collectives in the simulator without any latency take what the closed forms of the literature
// say, for ports alone and for rails; and a faster machine is never slower.
#include <gtest/gtest.h>

#include "core/collective/all_gather.hpp"
#include "core/collective/all_reduce.hpp"
#include "core/collective/all_to_all.hpp"
#include "core/collective/broadcast.hpp"
#include "core/collective/hierarchical_rails.hpp"
#include "core/collective/hierarchical_shares.hpp"
#include "core/collective/reduce_scatter.hpp"
#include "core/collective/ring_pipelined.hpp"
#include "models/machine.hpp"
#include "models/packets.hpp"
#include "sim/run.hpp"

namespace sym {
namespace {

using fiber::FiberBlock;
using fiber::FiberWorld;

constexpr int nodes = 4, per_node = 8;
constexpr std::size_t elements = std::size_t{1} << 24;  // of all_reduce; of a PE's row elsewhere
constexpr int pieces = 64;
constexpr int blocks = 4;  // for two trees and two orders of children
constexpr std::size_t packet_bytes = std::size_t{1} << 16;
constexpr double port_gbps = 400, nic_gbps = 50;

// Nothing takes time but ports and NICs.
models::Machine machine_without_latency() {
  models::Machine machine = models::load_machine("dgx-h100*4");
  for (auto& [key, number] : machine.numbers) {
    if (key.ends_with("_us")) number.value = 0;
    if (key.starts_with("sm_") || key == "hbm_gbps") number.value = 1e9;
    if (key.starts_with("port_")) number.value = port_gbps;
  }
  machine.numbers.at("nic_gbps").value = nic_gbps;
  return machine;
}

using Kernel = std::function<void(FiberBlock&, const Group&, const std::vector<Window<float>>&)>;

// From launch to end on the slowest PE. The windows: in, work, out, of `size` floats each.
double time_us(const models::Machine& machine, int pes, std::size_t size, const Kernel& kernel) {
  sim::SimOptions options;
  options.machine = machine;
  options.pes = pes;
  options.network = "ports";
  options.data = false;
  double slowest = 0;
  const sim::SimReport report = sim::run_sim(options, [&](FiberWorld& world) {
    std::vector<Window<float>> windows;
    for (int i = 0; i < 3; ++i) windows.push_back(world.allocate<float>(size));
    const Group group{world.channel({blocks, packet_bytes}), world.team()};
    world.barrier();
    const double begin = world.mark_us();
    world.launch({.name = "closed", .blocks = blocks, .symmetric = false},
                 [=, &kernel](FiberBlock& block) {
                   block.enter(group.channel);
                   kernel(block, group, windows);
                   block.leave(group.channel);
                 });
    slowest = std::max(slowest, world.mark_us() - begin);
  });
  EXPECT_EQ(report.findings.size(), 0U);
  return slowest;
}

double us(double count, double gbps) { return count * sizeof(float) / (gbps * 1e3); }

struct Form {
  const char* name;
  int pes;
  double us;
  std::size_t size;
  Kernel kernel;
  double slack = 1;
};

std::vector<Form> forms() {
  const double n = static_cast<double>(elements);
  const std::size_t room = 2 * elements;
  const double most = per_node - 1, others = nodes - 1;
  const std::size_t row = elements / 32, rows = elements + 1024;
  const double r = static_cast<double>(row);
  using Windows = const std::vector<Window<float>>&;
  return {
      {"two_shot", per_node, us(2 * most / per_node * n, port_gbps), room,
       [](FiberBlock& b, const Group& g, Windows w) {
         all_reduce_two_shot(b, g, w[0], w[2], elements, Sum{});
       }},
      {"ring", per_node, us(2 * most / per_node * n, port_gbps), room,
       [](FiberBlock& b, const Group& g, Windows w) {
         all_reduce_ring(b, g, w[0], w[2], elements, Sum{});
       }},
      {"ring_pipelined", per_node, us(2 * most / per_node * n, port_gbps), room,
       [](FiberBlock& b, const Group& g, Windows w) {
         all_reduce_ring_pipelined(b, g, w[0], w[2], elements, Sum{}, 4);
       }},
      {"halving_doubling", per_node, us(2 * most / per_node * n, port_gbps), room,
       [](FiberBlock& b, const Group& g, Windows w) {
         all_reduce_halving_doubling(b, g, w[0], w[1], w[2], elements, Sum{});
       }},
      {"double_tree", per_node, us(2 * n, port_gbps), room,
       [](FiberBlock& b, const Group& g, Windows w) {
         all_reduce_double_tree(b, g, w[0], w[1], w[2], elements, Sum{}, pieces);
       },
       1.25},  // ports that serve two at a time are not always both busy: no schedule is imposed
      {"all_to_all", per_node, us(most * r, port_gbps), rows,
       [=](FiberBlock& b, const Group& g, Windows w) { all_to_all_direct(b, g, w[0], w[2], row); }},
      {"all_reduce_one_shot", per_node, us(models::packet_wire * most * r, port_gbps), rows,
       [=](FiberBlock& b, const Group& g, Windows w) {
         all_reduce_one_shot(b, g, w[0], w[2], row, Sum{});
       }},
      {"all_gather_one_shot", per_node, us(models::packet_wire * most * r, port_gbps), rows,
       [=](FiberBlock& b, const Group& g, Windows w) {
         all_gather_one_shot(b, g, w[0], w[2], row);
       }},
      {"reduce_scatter_one_shot", per_node, us(models::packet_wire * most * r, port_gbps), rows,
       [=](FiberBlock& b, const Group& g, Windows w) {
         reduce_scatter_one_shot(b, g, w[0], w[2], row, Sum{});
       }},
      {"all_to_all_one_shot", per_node, us(models::packet_wire * most * r, port_gbps), rows,
       [=](FiberBlock& b, const Group& g, Windows w) {
         all_to_all_one_shot(b, g, w[0], w[2], row);
       }},
      {"broadcast_one_shot", per_node, us(models::packet_wire * most * r, port_gbps), rows,
       [=](FiberBlock& b, const Group& g, Windows w) {
         broadcast_one_shot(b, g, w[0], w[2], row, 1);
       }},
      // Inside a node seven eighths of all bytes, then along the rail what is for other nodes.
      {"all_to_all_two_hop", nodes * per_node,
       us(most * nodes * r, port_gbps) + us(others * per_node * r, nic_gbps), rows,
       [=](FiberBlock& b, const Group& g, Windows w) {
         all_to_all_two_hop(b, g, w[0], w[1], w[2], row, per_node);
       }},
      {"hierarchical_hd", nodes * per_node,
       us(2 * most / per_node * n, port_gbps) + us(2 * others / nodes * n / per_node, nic_gbps),
       room,
       [](FiberBlock& b, const Group& g, Windows w) {
         all_reduce_hierarchical_hd(b, g, w[0], w[1], w[2], elements, Sum{}, per_node);
       }},
      // The rail's rows go round while the node's are put.
      {"all_gather_hierarchical", nodes * per_node,
       us(most * r, port_gbps) +
           std::max(us(others * r, nic_gbps), us(most * others * r, port_gbps)),
       rows,
       [=](FiberBlock& b, const Group& g, Windows w) {
         all_gather_hierarchical(b, g, w[0], w[2], row, per_node);
       }},
      {"reduce_scatter_hierarchical", nodes * per_node,
       us(most * r, port_gbps) +
           std::max(us(others * r, nic_gbps), us(most * others * r, port_gbps)),
       rows,
       [=](FiberBlock& b, const Group& g, Windows w) {
         reduce_scatter_hierarchical(b, g, w[0], w[1], w[2], row, Sum{}, per_node);
       }},
  };
}

// In the trees over any number of PEs each PE but the root is the child that its parent names, no
// PE is more than a leaf in both, and none is deep.
TEST(DoubleTree, IsTwoTreesThatShareTheWork) {
  for (int ranks = 1; ranks <= 130; ++ranks) {
    SCOPED_TRACE(ranks);
    for (int rank = 0; rank < ranks; ++rank) {
      EXPECT_TRUE(detail::tree_node(rank, ranks, 0).is_leaf() ||
                  detail::tree_node(rank, ranks, 1).is_leaf());
    }
    for (int tree : {0, 1}) {
      int roots = 0;
      for (int rank = 0; rank < ranks; ++rank) {
        int depth = 0;
        for (int at = rank; detail::tree_node(at, ranks, tree).parent >= 0; ++depth) {
          const detail::TreeNode node = detail::tree_node(at, ranks, tree);
          const detail::TreeNode parent = detail::tree_node(node.parent, ranks, tree);
          ASSERT_EQ(node.is_left ? parent.left : parent.right, at);
          ASSERT_LT(1 << depth, 2 * ranks);
          at = node.parent;
        }
        roots += depth == 0 ? 1 : 0;
      }
      EXPECT_EQ(roots, 1);
    }
  }
}

TEST(ClosedForms, WithoutLatencyEachTakesItsBytesOverTheRate) {
  for (const Form& form : forms()) {
    SCOPED_TRACE(form.name);
    const double time = time_us(machine_without_latency(), form.pes, form.size, form.kernel);
    EXPECT_GE(time, 0.999 * form.us);
    EXPECT_LE(time, 1.001 * form.us * form.slack);
  }
}

TEST(ClosedForms, AFasterMachineIsNeverSlower) {
  for (const Form& form : forms()) {
    SCOPED_TRACE(form.name);
    models::Machine machine = models::load_machine("dgx-h100*4");
    const double before = time_us(machine, form.pes, form.size, form.kernel);
    for (auto& [key, number] : machine.numbers)
      if (key.ends_with("gbps")) number.value *= 1.5;
    EXPECT_LE(time_us(machine, form.pes, form.size, form.kernel), before);
  }
}

}  // namespace
}  // namespace sym
