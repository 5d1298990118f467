// Which variant of a collective to use, and with how many blocks, from the machine's numbers. No
// size and no number of PEs is a constant here.
#pragma once

#include <string>
#include <vector>

#include "models/machine.hpp"
#include "models/packets.hpp"
#include "models/times.hpp"

namespace sym::models {

struct Choice {
  std::string variant;
  int blocks = 0;                    // 0: the machine's default
  std::vector<Estimate> candidates;  // the fastest first; empty where a rule has chosen
  std::string why;                   // one sentence
};

// What may be chosen from: names of variants, those that estimate() does not know being passed
// over; and the most blocks that a launch may have.
struct Menu {
  std::vector<std::string> variants;
  int most_blocks = 1;
  int packet_blocks = 1;  // the most of one_shot
  int blocks = 0;         // that are asked for; 0: as many as take least
};

// The variant that `auto` means. Inside a node the one with the least estimate. Across nodes one
// whose traffic between nodes does not grow with their number: in two levels where PEs fill the
// nodes (all_reduce: see choose_in_levels), else the ring.
Choice choose(const Machine& machine, const Job& job, const Menu& menu);

// What `hierarchical` means for an all_reduce over nodes of `per_node` PEs: the way on the rails
// that takes least (rail_times), and the first in two levels on the menu where nothing is known of
// rails. No variant if there is none on the menu.
Choice choose_in_levels(const Machine& machine, const Job& job, int per_node, const Menu& menu);

// The number of blocks up to menu.most_blocks with which the variant takes least: more move bytes
// faster, and each has flags of its own. Powers of two, and `most`; of equally good ones the
// fewest.
Estimate best_blocks(const Machine& machine, const Job& job, const std::string& variant,
                     const Menu& menu);

// "a 3.1 + b at 390 GB/s 344.2": what an estimate is the sum of, in microseconds.
std::string terms_text(const Estimate& estimate);

}  // namespace sym::models
