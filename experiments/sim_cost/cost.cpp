// What a simulated run costs the machine that simulates it: cost PROGRAM NETWORK NODES
//   exchange   NODES nodes of one GPU; each puts 1 MB to every other (as plain_simgrid.cpp)
//   direct     NODES nodes of 8 GPUs, 64 MiB: an all-to-all, each GPU to every other, window 4
//   two_hop    ... inside the node to the GPU on the right rail, then along rails
//   rails      ... an all-reduce: inside nodes, halving and doubling on rails (NODES: a power of 2)
// Prints CSV: program,network,pes,flows,simulated_us,cpu_s,cpu_us_per_flow,peak_mib
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

#include "core/collective/barrier.hpp"
#include "core/collective/share.hpp"
#include "sim/run.hpp"

namespace sym {
namespace {

using B = fiber::FiberBlock;
using W = Window<bf16>;
constexpr int node_pes = 8;

struct Teams {
  Group node, rail;
  int place, nodes, node_index;
};

Teams teams_of(const Group& group) {
  const Team& all = group.team;
  const int place = all.rank() % node_pes;
  const int nodes = all.size() / node_pes;
  return {{group.channel, all.slice(all.rank() - place, 1, node_pes)},
          {group.channel, all.slice(place, node_pes, nodes)},
          place,
          nodes,
          all.rank() / node_pes};
}

void direct(B& block, const Group& group, W in, W out) {
  const Team& team = group.team;
  const auto ranks = static_cast<std::size_t>(team.size());
  const std::size_t each = in.count / ranks;
  for (int hop = 1; hop < team.size(); ++hop) {
    const int to = (team.rank() + hop) % team.size();
    block.put(out.at(static_cast<std::size_t>(team.rank()) * each),
              in.at(static_cast<std::size_t>(to) * each), Range{0, each}, team.pe(to));
  }
  block.quiet();
}

void two_hop(B& block, const Group& group, W in, W out) {
  const Teams teams = teams_of(group);
  const std::size_t node_part = in.count / node_pes;
  const std::size_t rail_part = in.count / static_cast<std::size_t>(teams.nodes);
  if (!barrier(block, teams.node)) return;
  for (int hop = 1; hop < node_pes; ++hop)
    block.put(out, in, Range{0, node_part}, teams.node.team.pe((teams.place + hop) % node_pes));
  if (!barrier(block, teams.node)) return;
  for (int hop = 1; hop < teams.nodes; ++hop)
    block.put(out, in, Range{0, rail_part},
              teams.rail.team.pe((teams.node_index + hop) % teams.nodes));
  barrier(block, teams.rail);
}

void rails(B& block, const Group& group, W in, W out) {
  const Teams teams = teams_of(group);
  const Signals& steps = group.channel.steps;
  const Team& rail = teams.rail.team;
  const Range mine = chunk(in.all(), teams.place, node_pes, granule<bf16>);
  if (!barrier(block, teams.node)) return;
  block.reduce(in, in, mine, teams.node.team, Sum{});
  std::vector<Range> parts{mine};
  for (int distance = teams.nodes / 2; distance > 0; distance /= 2) {
    const int peer = teams.node_index ^ distance;
    const bool upper = (teams.node_index & distance) != 0;
    const Range keep = chunk(parts.back(), upper ? 1 : 0, 2);
    block.fence(rail.pe(peer));
    block.put_signal(out, in, chunk(parts.back(), upper ? 0 : 1, 2), steps, 0, rail.pe(peer));
    if (!block.wait_until(steps, 0, rail.only(peer))) return;
    block.transform(in, keep, detail::Combine<Sum>{}, in, out);
    parts.push_back(keep);
  }
  for (int distance = 1; distance < teams.nodes; distance *= 2) {
    const int peer = rail.pe(teams.node_index ^ distance);
    block.fence(peer);
    block.put_signal(in, in, parts.back(), steps, 0, peer);
    if (!block.wait_until(steps, 0, rail.only(teams.node_index ^ distance))) return;
    parts.pop_back();
  }
  for (int hop = 1; hop < node_pes; ++hop)
    block.put(out, in, mine, teams.node.team.pe((teams.place + hop) % node_pes));
  barrier(block, teams.node);
}

sim::SimOptions options_of(const std::string& program, const std::string& network, int nodes) {
  sim::SimOptions options;
  options.machine = models::load_machine("dgx-h100*" + std::to_string(nodes));
  if (program == "exchange") {
    options.machine.gpus_per_node = options.machine.nics_per_node = 1;
    options.machine.nic_of_gpu = {0};
    options.machine.numbers.at("nic_post_us").value = 1e-3;
  }
  options.pes = options.machine.pes();
  options.network = network;
  options.data = false;
  return options;
}

int cost(const std::string& program, const std::string& network, int nodes) {
  const sim::SimOptions options = options_of(program, network, nodes);
  const bool exchange = program == "exchange";
  const auto pes = static_cast<std::size_t>(options.pes);
  const std::size_t n = exchange ? pes * 500000 : std::size_t{32} << 20;
  std::clock_t began = 0;
  double us = 0;
  const sim::SimReport report = sim::run_sim(options, [&](fiber::FiberWorld& world) {
    const W in = world.allocate<bf16>(n);
    const W out = world.allocate<bf16>(n);
    const Group group{world.channel({32}), world.team()};
    world.barrier();
    if (world.pe() == 0 && exchange) began = std::clock();
    const double begin_us = world.mark_us();
    world.launch({.name = "cost", .blocks = 32}, [=](B& block) {
      if (program == "rails") rails(block, group, in, out);
      if (program == "two_hop") two_hop(block, group, in, out);
      if (program == "direct" || exchange) direct(block, group, in, out);
    });
    us = std::max(us, world.mark_us() - begin_us);
  });
  for (const auto& finding : report.findings) std::fprintf(stderr, "%s\n", finding.text.c_str());
  const double seconds = static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC;
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  std::printf("%s,%s,%d,%llu,%.3f,%.3f,%.3f,%.0f\n", program.c_str(), network.c_str(), options.pes,
              static_cast<unsigned long long>(report.flows), us, seconds,
              seconds / static_cast<double>(report.flows) * 1e6,
              static_cast<double>(used.ru_maxrss) / 1024);
  return report.findings.empty() ? 0 : 1;
}

}  // namespace
}  // namespace sym

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "cost exchange|direct|two_hop|rails ports|simgrid NODES\n");
    return 2;
  }
  return sym::cost(argv[1], argv[2], std::stoi(argv[3]));
}
