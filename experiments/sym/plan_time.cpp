#include "experiments/sym/plan_time.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/error.hpp"
#include "models/gemm_time.hpp"

namespace sym::command {

namespace {

using gemm::to_index;

class Clockwork {
 public:
  Clockwork(const gemm::Plan& plan, const models::Machine& machine, std::size_t element)
      : plan_(plan),
        machine_(machine),
        element_(static_cast<double>(element)),
        products_(to_index(plan.pes)),
        copies_(to_index(plan.pes)),
        busy_(to_index(plan.pes)),
        fetching_(to_index(plan.pes)),
        ended_(to_index(plan.pes)) {}

  PlanTime run() {
    // Addends come from products of earlier steps, so this order knows each before it is needed.
    std::vector<std::size_t> next(to_index(plan_.pes));
    for (int step = 0; step < plan_.schedule.steps; ++step) {
      for (int rank = 0; rank < plan_.pes; ++rank) {
        const auto& stages = plan_.ranks[to_index(rank)].stages;
        std::size_t& at = next[to_index(rank)];
        if (at < stages.size() && stages[at].step == step) stage(rank, stages[at++]);
      }
    }
    for (int rank = 0; rank < plan_.pes; ++rank) {
      for (const gemm::Delivery& one : plan_.ranks[to_index(rank)].deliveries) deliver(rank, one);
    }
    PlanTime time;
    time.stages_us = *std::max_element(busy_.begin(), busy_.end());
    time.copies_us = *std::max_element(fetching_.begin(), fetching_.end());
    time.total_us = *std::max_element(products_.begin(), products_.end());
    const gemm::Extent all = plan_.tiling.extent();
    time.unsplit_us = models::gemm_us(machine_, all.m, all.n, all.k) / plan_.pes;
    return time;
  }

 private:
  double copy_us(std::size_t elements) const {
    return machine_.number("copy_engine_start_us") +
           static_cast<double>(elements) * element_ / (machine_.number("copy_engine_gbps") * 1e3);
  }
  double read_us(std::size_t elements) const {
    const double rate = machine_.number_or("port_read_gbps", machine_.number("port_gbps"));
    return static_cast<double>(elements) * element_ / (rate * 1e3);
  }

  void stage(int rank, const gemm::Stage& s) {
    double& copied = copies_[to_index(rank)];
    std::vector<double>& ended = ended_[to_index(rank)];
    double start = products_[to_index(rank)] + machine_.number("launch_us");
    for (const gemm::Pull& pull : s.pulls) {
      const double takes = copy_us(plan_.of(pull.which).place(pull.row, pull.col).count());
      if (pull.after >= 0) copied = std::max(copied, ended[to_index(pull.after)]);
      copied += takes;
      fetching_[to_index(rank)] += takes;
    }
    if (!s.pulls.empty()) start = std::max(start, copied);
    const std::size_t m = plan_.tiling.m.size(s.tile.m);
    const std::size_t n = plan_.tiling.n.size(s.tile.n);
    double takes = models::gemm_us(machine_, m, n, plan_.tiling.k.size(s.tile.k));
    busy_[to_index(rank)] += takes;
    if (s.addend == gemm::Addend::peer) {
      const double announced = partial_[{s.peer, s.partial}] + machine_.number("flag_us");
      start = std::max(start, announced);
    }
    const bool remote = s.addend == gemm::Addend::peer ||
                        (s.addend == gemm::Addend::user && plan_.options.with_c && s.peer != rank);
    if (remote) {
      fetching_[to_index(rank)] += read_us(m * n);
      takes = std::max(takes, read_us(m * n));
    }
    products_[to_index(rank)] = start + takes;
    ended.push_back(start + takes);
    if (s.to >= 0) partial_[{rank, s.to}] = start + takes;
  }

  void deliver(int rank, const gemm::Delivery& one) {
    const std::size_t elements = plan_.tiling.m.size(one.m) * plan_.tiling.n.size(one.n);
    double& at = products_[to_index(rank)];
    at = std::max(at, partial_[{one.from, one.partial}] + machine_.number("flag_us"));
    at += copy_us(elements);
    fetching_[to_index(rank)] += copy_us(elements);
  }

  const gemm::Plan& plan_;
  const models::Machine& machine_;
  double element_;
  std::vector<double> products_, copies_;  // when each rank's lines have got so far
  std::vector<double> busy_, fetching_;
  std::vector<std::vector<double>> ended_;         // products, by rank and stage
  std::map<std::pair<int, int>, double> partial_;  // when it is complete, by rank and number
};

}  // namespace

PlanTime predict(const gemm::Plan& plan, const models::Machine& machine, std::size_t element) {
  if (plan.pes > machine.gpus_per_node) {
    throw UsageError(fmt::format(
        "plan: a node of {} has {} GPUs, and plans are timed within one node; {} PEs are "
        "simulated by sym run gemm --backend sim",
        machine.name, machine.gpus_per_node, plan.pes));
  }
  return Clockwork(plan, machine, element).run();
}

}  // namespace sym::command
