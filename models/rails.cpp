#include "models/rails.hpp"

#include <algorithm>
#include <bit>

namespace sym::models {

namespace {

// Edges of the two trees are not scheduled: where two children send to one port at a time, large
// messages take up to so much longer than the 2n of the paper (docs/guide/sim.md).
constexpr double unscheduled = 1.25;

}  // namespace

std::vector<RailTime> rail_times(const Machine& machine, int nodes, double share_bytes) {
  if (nodes < 2 || machine.nics_per_node < 1) return {};
  const double latency_us = machine.number("nic_latency_us");
  const double hop_us =
      machine.number("nic_post_us") + latency_us + machine.number_or("nic_flag_us", latency_us);
  const double message_us = share_bytes / (machine.number("nic_gbps") * 1e3);
  const double steps = nodes - 1;
  const auto depth =
      static_cast<int>(std::bit_width(static_cast<unsigned>(nodes - 1)));  // log2, rounded up
  // Twice (N-1)/N of the share each way: Patarasuk and Yuan, 2009; Thakur et al., 2005.
  const double least_us = 2 * steps / nodes * message_us;
  std::vector<RailTime> all{
      {levels_on_a_ring, 2 * steps * hop_us + least_us},
      {levels_on_trees,
       2 * depth * hop_us + 2 * unscheduled * message_us}};  // Sanders et al., 2009
  if (std::has_single_bit(static_cast<unsigned>(nodes)))
    all.push_back({levels_by_halving, 2 * depth * hop_us + least_us});
  std::stable_sort(all.begin(), all.end(),
                   [](const RailTime& a, const RailTime& b) { return a.us < b.us; });
  return all;
}

}  // namespace sym::models
