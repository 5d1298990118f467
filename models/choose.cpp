#include "models/choose.hpp"

#include <algorithm>
#include <cstdio>

#include "models/rails.hpp"

namespace sym::models {

namespace {

std::string number_text(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), value < 99.95 ? "%.2f" : "%.0f", value);
  return text;
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Whether a broadcast over nodes is sooner there in two shots: a share to each PE, which gives it
// to all. Each byte then leaves a NIC twice on its way and the root's not once for each PE of
// another node, at the price of one more meeting across nodes.
bool pays_to_scatter(const Machine& machine, const Job& job) {
  if (!machine.numbers.contains("nic_gbps")) return false;
  const double outside = job.pes - machine.gpus_per_node;
  const double once_us = job.bytes / (machine.number("nic_gbps") * 1e3);
  const double meeting_us = 2 * machine.number("nic_latency_us");
  return 2 * outside / job.pes * once_us + meeting_us < outside * once_us;
}

// Across nodes.
Choice by_rule(const Machine& machine, const Job& job, const Menu& menu) {
  Choice choice;
  const bool in_levels = job.pes % machine.gpus_per_node == 0;
  const auto take = [&](const std::string& variant, const std::string& why) {
    if (choice.variant.empty() && contains(menu.variants, variant)) {
      choice.variant = variant;
      choice.why = "across nodes: " + why;
    }
  };
  if (in_levels && job.algorithm == "all_reduce") {
    const Choice levels = choose_in_levels(machine, job, machine.gpus_per_node, menu);
    take(levels.variant, levels.why);
  }
  if (in_levels) take(in_levels_variant, "in two levels");
  if (in_levels) take("two_hop", "in two hops, along the rails");
  if (job.algorithm == "broadcast" && pays_to_scatter(machine, job))
    take("two_shot", "a share to each, and each to all: the root's NIC sends every byte once");
  if (job.algorithm == "broadcast" || job.algorithm == "all_to_all") {
    take("direct", "each to each");
  }
  take("ring", "the ring, because PEs do not fill the nodes");
  return choice;
}

}  // namespace

std::string terms_text(const Estimate& estimate) {
  std::string text;
  for (const Term& term : estimate.terms)
    text += (text.empty() ? "" : " + ") + term.what + " " + number_text(term.us);
  return text;
}

Estimate best_blocks(const Machine& machine, const Job& job, const std::string& variant,
                     const Menu& menu) {
  if (menu.blocks > 0) return estimate(machine, job, variant, menu.blocks);
  if (variant == "one_shot") {
    const PacketGrid grid = packet_grid(machine, messages_of(job), menu.packet_blocks);
    return estimate(machine, job, variant, grid.blocks);
  }
  const int most = menu.most_blocks;
  Estimate best = estimate(machine, job, variant, 1);
  for (int blocks = 2; blocks / 2 < most; blocks *= 2) {
    const Estimate more = estimate(machine, job, variant, std::min(blocks, most));
    if (more.us < best.us) best = more;
  }
  return best;
}

Choice choose_in_levels(const Machine& machine, const Job& job, int per_node, const Menu& menu) {
  Choice choice;
  for (const RailTime& one : rail_times(machine, job.pes / per_node, job.bytes / per_node)) {
    if (!contains(menu.variants, one.variant)) continue;
    if (choice.variant.empty()) choice.variant = one.variant;
    choice.why += (choice.why.empty() ? "in two levels; on the rails " : ", ") + one.variant + " " +
                  number_text(one.us) + " us";
  }
  if (!choice.variant.empty() && (menu.blocks > 0 || job.pieces > 0))
    choice.why += " (with blocks and pieces of their own)";
  if (!choice.variant.empty()) return choice;
  for (const char* variant : {levels_on_a_ring, levels_by_halving, levels_on_trees}) {
    if (choice.variant.empty() && contains(menu.variants, variant)) choice.variant = variant;
  }
  choice.why = "in two levels; of rails nothing is known";
  return choice;
}

Choice choose(const Machine& machine, const Job& job, const Menu& menu) {
  if (job.pes > machine.gpus_per_node) return by_rule(machine, job, menu);
  Choice choice;
  for (const std::string& variant : menu.variants) {
    if (has_estimate(machine, job.algorithm, variant))
      choice.candidates.push_back(best_blocks(machine, job, variant, menu));
  }
  if (choice.candidates.empty()) return choice;
  std::stable_sort(choice.candidates.begin(), choice.candidates.end(),
                   [](const Estimate& a, const Estimate& b) { return a.us < b.us; });
  const Estimate& best = choice.candidates.front();
  choice.variant = best.variant;
  choice.blocks = best.blocks;
  choice.why = "least of " + std::to_string(choice.candidates.size()) + " estimates";
  if (choice.candidates.size() > 1) {
    choice.why += ", " + number_text(best.us) + " us; the next is " + choice.candidates[1].variant +
                  ", " + number_text(choice.candidates[1].us) + " us";
  }
  return choice;
}

}  // namespace sym::models
