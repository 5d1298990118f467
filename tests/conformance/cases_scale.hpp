// The variants for many PEs and all_to_all against exact data: every count, grid and size of a
// node.
#pragma once

#include "experiments/sym/scale_kernels.hpp"
#include "tests/conformance/cases_collective.hpp"
#include "tests/conformance/cases_safety.hpp"

namespace sym::conformance {

using command::HierarchicalAllReduceKernel;
using command::Scale;
using command::ScaleArguments;
using command::ScaleKernel;

// A launch: n elements a PE (in reduce_scatter and all_to_all: for each), nodes of `per_node`.
struct ScaleShape {
  std::size_t n;
  int blocks, per_node, pieces;
};

template <class T, World W>
class ScaleCollectives : private Collectives<T, W> {
  using Base = Collectives<T, W>;

 public:
  ScaleCollectives(W& world, Errors& errors, std::size_t most, int blocks)
      : Base(world, errors, most, blocks) {
    const auto pes = static_cast<std::size_t>(world.n_pes());
    room_ =
        world.template allocate<T>(std::max({most * pes, hierarchical_tree_work<T>(most, blocks),
                                             halving_work<T>(most, world.n_pes(), blocks)}));
  }

  template <Scale variant, class Op = Sum>
  void run(const Team& team, const ScaleShape& shape) {
    const bool rows = exchanges(variant) || scatters(variant);
    const std::size_t n = shape.n;
    if (!this->template begin<Op>(team, rows ? n * Base::ranks(team) : n)) return;
    poison_work();
    const ScaleArguments<T> arguments{this->group(team, n, shape.blocks),
                                      this->in_,
                                      room_,
                                      this->out_,
                                      n,
                                      shape.per_node,
                                      shape.pieces};
    this->world_.launch(this->config("scale", shape.blocks),
                        ScaleKernel<variant, T, Op>{arguments});
    this->end(("variant " + std::to_string(static_cast<int>(variant)) + ", " +
               std::to_string(shape.per_node) + " a node")
                  .c_str(),
              team, n, shape.blocks, wanted<variant, Op>(team, n));
  }
  template <class Op>
  void hierarchical(const Team& team, const ScaleShape& shape) {
    const std::size_t n = shape.n;
    if (!this->template begin<Op>(team, n)) return;
    poison_work();
    this->world_.launch(
        this->config("hierarchical", shape.blocks),
        HierarchicalAllReduceKernel<T, Op>{this->group(team, n, shape.blocks), this->in_, room_,
                                           this->out_, n, shape.per_node});
    this->end("hierarchical", team, n, shape.blocks,
              combined<T>(this->iteration_, team, n, 0, Op{}));
  }

  // One level: any number of PEs.
  template <class Op>
  void flat(const Team& team, const ScaleShape& shape) {
    run<Scale::ring_pipelined, Op>(team, shape);
    run<Scale::halving_doubling, Op>(team, shape);
    run<Scale::double_tree, Op>(team, shape);
    by_multicast<Scale::nvls, Op>(team, shape);
    by_multicast<Scale::reduce_scatter_nvls, Op>(team, shape);
  }
  // Two: a node must divide the team.
  template <class Op>
  void in_levels(const Team& team, const ScaleShape& shape) {
    hierarchical<Op>(team, shape);
    run<Scale::hierarchical_hd, Op>(team, shape);
    run<Scale::hierarchical_tree, Op>(team, shape);
    run<Scale::reduce_scatter_hierarchical, Op>(team, shape);
    by_multicast<Scale::nvls_tree, Op>(team, shape);
  }
  void movements(const Team& team, const ScaleShape& shape) {
    run<Scale::all_gather_hierarchical>(team, shape);
    run<Scale::all_to_all_one_shot>(team, shape);
    run<Scale::all_to_all_direct>(team, shape);
    run<Scale::all_to_all_two_hop>(team, shape);
    by_multicast<Scale::all_gather_nvls>(team, shape);
  }

 private:
  // Not on GPUs; and the simulator has more than 8 PEs on several nodes, which multicast does not
  // join.
  template <Scale variant, class Op = Sum>
  void by_multicast(const Team& team, const ScaleShape& shape) {
    if constexpr (!command::compiles_slowly<W>) {
      if (this->world_.n_pes() <= 8) run<variant, Op>(team, shape);
    }
  }
  static constexpr bool scatters(Scale variant) {
    return variant == Scale::reduce_scatter_hierarchical || variant == Scale::reduce_scatter_nvls;
  }
  static constexpr bool exchanges(Scale variant) {
    return variant == Scale::all_to_all_one_shot || variant == Scale::all_to_all_direct ||
           variant == Scale::all_to_all_two_hop;
  }
  void poison_work() { write_all(this->world_, room_, poison<T>(room_.count)); }

  // What this PE's output must be.
  template <Scale variant, class Op>
  std::vector<T> wanted(const Team& team, std::size_t n) const {
    const bool gathers =
        variant == Scale::all_gather_hierarchical || variant == Scale::all_gather_nvls;
    const std::size_t mine = static_cast<std::size_t>(team.rank()) * n;
    if (scatters(variant)) return combined<T>(this->iteration_, team, n, mine, Op{});
    if (!gathers && !exchanges(variant)) return combined<T>(this->iteration_, team, n, 0, Op{});
    std::vector<T> all;
    for (int rank = 0; rank < team.size(); ++rank) {
      const Origin origin{this->iteration_, team.pe(rank), team.size()};
      const std::vector<T> row = values<T>(origin, n, gathers ? 0 : mine);
      all.insert(all.end(), row.begin(), row.end());
    }
    return all;
  }

  Window<T> room_;
};

// Every size of a node that divides the team.
template <class F>
void for_nodes(const Team& team, F f) {
  for (int per_node = 1; per_node <= team.size(); ++per_node)
    if (team.size() % per_node == 0) f(per_node);
}

template <class W>
void scale_sums_of(W& world, Errors& errors, const Team& team, const Sweep& sweep) {
  ScaleCollectives<bf16, W> collectives(world, errors, sweep.counts.back(), sweep.blocks.back());
  for (std::size_t n : sweep.counts) {
    for (int blocks : sweep.blocks) {
      for (int pieces : {1, 3}) {
        collectives.template flat<Sum>(team, {n, blocks, 1, pieces});
        for_nodes(team, [&](int per_node) {
          collectives.template in_levels<Sum>(team, {n, blocks, per_node, pieces});
          if (pieces == 1) collectives.movements(team, {n, blocks, per_node, pieces});
        });
      }
    }
  }
}

template <class W>
void scale_sums(W& world, Errors& errors) {
  scale_sums_of(world, errors, world.team(), {{0, 1, 17, 300}, {1, 3}});
}
template <class W>
void few_scale_sums(W& world, Errors& errors) {
  scale_sums_of(world, errors, world.team(), {{1, 65}, {2}});
}
template <class W>
void scale_sums_of_a_team(W& world, Errors& errors) {
  const Team odd = Team::strided(world.pe(), 1, 2, world.n_pes() / 2);
  scale_sums_of(world, errors, odd, {{17, 100}, {2}});
}
// A mean is divided once, of integers too, on however many levels.
template <class W>
void scale_ops(W& world, Errors& errors) {
  ScaleCollectives<bf16, W> collectives(world, errors, 300, 3);
  ScaleCollectives<std::int32_t, W> integers(world, errors, 300, 3);
  const Team team = world.team();
  for (std::size_t n : {1, 300}) {
    collectives.template flat<Avg>(team, {n, 3, 1, 2});
    collectives.template flat<Prod>(team, {n, 1, 1, 2});
    for_nodes(team, [&](int per_node) {
      collectives.template in_levels<Max>(team, {n, 3, per_node, 2});
      collectives.template in_levels<Avg>(team, {n, 3, per_node, 2});
      integers.template in_levels<Avg>(team, {n, 2, per_node, 2});
    });
  }
}

template <class W>
std::vector<Case<W>> scale_cases() {
  const Effort once = Effort::worst_only;
  std::vector<Case<W>> all{{"every_schedule", {1, 2, 3, 4, 6}, few_scale_sums<W>},
                           {"sums", {5, 6, 8}, scale_sums<W>, once},
                           {"many", {7, 12, 33}, few_scale_sums<W>, once},
                           {"team", {6, 8}, scale_sums_of_a_team<W>, once, 4}};
  if constexpr (!command::compiles_slowly<W>)
    all.push_back({"ops", {1, 3, 6, 8}, scale_ops<W>, once});
  return all;
}

// Every variant refuses windows that overlap, on every PE, in words; for worlds that recover.
template <Scale variant, class W>
void scale_overlaps(W& world, Errors& errors, int first, int second, int per_node) {
  constexpr std::size_t n = 40;
  const std::size_t room = (n + 64) * static_cast<std::size_t>(world.n_pes() + 2);
  std::array<Window<float>, 3> memory;
  for (Window<float>& one : memory) one = world.template allocate<float>(room);
  memory[static_cast<std::size_t>(second)] = memory[static_cast<std::size_t>(first)].at(1);
  const Group group{world.channel({1, 256}), world.team()};
  expect_overlap(
      world, errors, "scale",
      ScaleKernel<variant, float, Sum>{{group, memory[0], memory[1], memory[2], n, per_node, 1}});
}
template <class W>
void scale_overlap_is_refused(W& world, Errors& errors) {
  constexpr int in = 0, work = 1, out = 2;
  for (const auto& [a, b] :
       std::array<std::array<int, 2>, 3>{{{in, out}, {in, work}, {work, out}}}) {
    const int all = world.n_pes();
    if (a == in && b == out) {
      scale_overlaps<Scale::ring_pipelined>(world, errors, a, b, all);
      scale_overlaps<Scale::all_gather_hierarchical>(world, errors, a, b, all);
      scale_overlaps<Scale::all_to_all_one_shot>(world, errors, a, b, all);
      scale_overlaps<Scale::all_to_all_direct>(world, errors, a, b, all);
    }
    if (all > 1 || (a == in && b == out)) {  // one node needs no work memory
      scale_overlaps<Scale::hierarchical_hd>(world, errors, a, b, 1);
      scale_overlaps<Scale::hierarchical_tree>(world, errors, a, b, 1);
      scale_overlaps<Scale::reduce_scatter_hierarchical>(world, errors, a, b, 1);
    }
    scale_overlaps<Scale::halving_doubling>(world, errors, a, b, all);
    scale_overlaps<Scale::double_tree>(world, errors, a, b, all);
    scale_overlaps<Scale::all_to_all_two_hop>(world, errors, a, b, all);
  }
}
template <class W>
std::vector<Case<W>> scale_recovery_cases() {
  return {{"overlap_is_refused", {1, 2, 3}, scale_overlap_is_refused<W>}};
}

}  // namespace sym::conformance
