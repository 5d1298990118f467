#include <algorithm>

#include "core/gemm/plan.hpp"

namespace sym::gemm {

Volume received(const Plan& plan, int rank) {
  Volume all;
  for (const Transfer& one : plan.transfers) {
    if (one.to != rank) continue;
    if (one.what == Traffic::a) all.a += one.elements;
    if (one.what == Traffic::b) all.b += one.elements;
    if (one.what == Traffic::partial) all.c += one.elements;
  }
  return all;
}

Table<std::size_t> transfer_matrix(const Plan& plan, int step) {
  Table<std::size_t> all(plan.pes, plan.pes, 0);
  for (const Transfer& one : plan.transfers) {
    if (step < 0 || one.step == step) all(one.from, one.to) += one.elements;
  }
  return all;
}

Properties properties(const Plan& plan) {
  Properties good;
  for (const RankPlan& rank : plan.ranks) {
    if (rank.stages.empty()) continue;
    const Stage& first = rank.stages.front();
    good.local_start = good.local_start && first.pulls.empty() && first.addend != Addend::peer;
  }
  std::vector<Table<int>> reader(to_index(plan.schedule.steps), Table<int>(plan.pes, 4, -1));
  for (const Transfer& one : plan.transfers) {
    int& other = reader[to_index(one.step)](one.from, static_cast<int>(one.what));
    good.one_reader = good.one_reader && (other < 0 || other == one.to);
    other = one.to;
  }
  return good;
}

}  // namespace sym::gemm
