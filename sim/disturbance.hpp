// Disturbance: what is wrong with a simulated machine, or goes on there beside the program.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "models/machine.hpp"

namespace sym::sim {

struct Disturbance {
  struct Pair {
    int from = 0, to = 0;  // PEs
    double value = 0;
  };
  std::map<int, double> slow_gpus;  // PE: its SMs, copy engines and launches take so many
                                    // times as long
  std::map<int, double> slow_nics;  // PE: the NIC that it uses has its rate divided by so much
  // Both directions between two PEs: the slowest link on their way has, for their traffic alone,
  // its rate divided by so much.
  std::vector<Pair> slow_links;
  // A flow from one PE to another that lasts as long as the run: at most so many GB/s, and no more
  // than its fair share of each link.
  std::vector<Pair> background;
  // Each delay that is no flow is multiplied by exp(sigma z), z standard normal: a median of 1.
  double jitter_sigma = 0;
  std::uint64_t seed = 1;
};

// "slow_gpu=3:2,slow_nic=0:4,slow_link=0-8:10,background=1-9:20": adds what it says. Throws
// UsageError with what would be accepted. PEs are checked by require_pes, once it is known how many
// there are.
void add_disturbances(Disturbance& all, const std::string& text);
// Whether `text` begins as one of these: other words are other faults. Here, because programs
// without a simulator ask too, and say so.
inline bool is_disturbance(const std::string& text) {
  const std::string name = text.substr(0, text.find('='));
  return name == "slow_gpu" || name == "slow_nic" || name == "slow_link" || name == "background";
}
void require_pes(const Disturbance& all, int pes);

// "lognormal:0.2": the sigma. Throws UsageError.
double parse_jitter(const std::string& text);

// On which GPU of the machine, counted node by node, each PE is: "packed" (empty: PE i on GPU i),
// "round_robin" (PE i on node i modulo nodes), or a list such as 0,8,1,9. Throws UsageError.
std::vector<int> parse_placement(const std::string& text, int pes, const models::Machine& machine);

}  // namespace sym::sim
