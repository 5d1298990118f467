// Every collective, variant, count and grid against exact data: the sweep.
//
// Launches follow each other without any synchronisation of the PEs by their hosts: an input is
// rewritten, and an output poisoned, as soon as this PE's own launch has ended. That is the
// contract.
#pragma once

#include "experiments/sym/collective_kernels.hpp"
#include "tests/conformance/harness.hpp"

namespace sym::conformance {

using command::AllGatherKernel;
using command::AllReduceKernel;
using command::BroadcastKernel;
using command::ReduceScatterKernel;
using command::Variant;

// The collectives of one world, one channel and one set of windows, on one team.
template <class T, World W>
class Collectives {
 public:
  Collectives(W& world, Errors& errors, std::size_t most, int blocks = 3)
      : world_(world),
        errors_(errors),
        most_(most),
        channel_(world.channel({blocks, 208})) {  // a small inbox: one-shot goes in rounds
    const std::size_t all = most * static_cast<std::size_t>(world.n_pes());
    in_ = world.template allocate<T>(all);
    out_ = world.template allocate<T>(all);
    work_ = world.template allocate<T>(all);
  }

  // Each call is one launch, verified, by the members of `team` alone; the others only count it.
  template <Variant variant, class Op>
  void all_reduce(const Team& team, std::size_t n, int blocks) {
    if (!begin<Op>(team, n)) return;
    world_.launch(config("all_reduce", blocks),
                  AllReduceKernel<variant, T, Op>{group(team, n, blocks), in_, out_, n});
    end("all_reduce", team, n, blocks, combined<T>(iteration_, team, n, 0, Op{}));
  }
  template <Variant variant, class Op>
  void reduce_scatter(const Team& team, std::size_t n, int blocks) {
    if (!begin<Op>(team, n * ranks(team))) return;
    world_.launch(
        config("reduce_scatter", blocks),
        ReduceScatterKernel<variant, T, Op>{group(team, n, blocks), in_, work_, out_, n, 3});
    end("reduce_scatter", team, n, blocks,
        combined<T>(iteration_, team, n, static_cast<std::size_t>(team.rank()) * n, Op{}));
  }
  template <Variant variant>
  void all_gather(const Team& team, std::size_t n, int blocks) {
    if (!begin<Sum>(team, n)) return;
    world_.launch(config("all_gather", blocks),
                  AllGatherKernel<variant, T>{group(team, n, blocks), in_, out_, n});
    std::vector<T> wanted;
    for (int rank = 0; rank < team.size(); ++rank) {
      const std::vector<T> part = values<T>({iteration_, team.pe(rank), team.size()}, n);
      wanted.insert(wanted.end(), part.begin(), part.end());
    }
    end("all_gather", team, n, blocks, wanted);
  }
  template <Variant variant>
  void broadcast(const Team& team, std::size_t n, int blocks) {
    if (!begin<Sum>(team, n)) return;
    const int root = iteration_ % team.size();
    world_.launch(config("broadcast", blocks),
                  BroadcastKernel<variant, T>{group(team, n, blocks), in_, out_, n, root});
    end("broadcast", team, n, blocks, values<T>({iteration_, team.pe(root), team.size()}, n));
  }

  template <class Op>
  void reductions(const Team& team, std::size_t n, int blocks) {
    all_reduce<Variant::two_shot, Op>(team, n, blocks);
    reduce_scatter<Variant::one_shot, Op>(team, n, blocks);
    if constexpr (!few_kernels || std::is_same_v<Op, Sum>) other_reductions<Op>(team, n, blocks);
  }
  template <class Op>
  void other_reductions(const Team& team, std::size_t n, int blocks) {
    all_reduce<Variant::one_shot, Op>(team, n, blocks);
    all_reduce<Variant::one_shot_read, Op>(team, n, blocks);
    all_reduce<Variant::ring, Op>(team, n, blocks);
    reduce_scatter<Variant::direct, Op>(team, n, blocks);
    reduce_scatter<Variant::push, Op>(team, n, blocks);
    reduce_scatter<Variant::ring, Op>(team, n, blocks);
  }
  void movements(const Team& team, std::size_t n, int blocks) {
    all_gather<Variant::one_shot>(team, n, blocks);
    all_gather<Variant::direct>(team, n, blocks);
    all_gather<Variant::ring>(team, n, blocks);
    broadcast<Variant::one_shot>(team, n, blocks);
    broadcast<Variant::direct>(team, n, blocks);
    broadcast<Variant::two_shot>(team, n, blocks);
  }

 protected:
  static std::size_t ranks(const Team& team) { return static_cast<std::size_t>(team.size()); }
  static LaunchConfig config(const char* name, int blocks) { return launch_of(name, blocks); }
  Group group(const Team& team, std::size_t n, int blocks) const {
    return Group{
        channel_.tagged(operation_tag(1, n, sizeof(T), static_cast<std::uint64_t>(blocks))), team};
  }

  template <class Op>
  bool begin(const Team& team, std::size_t elements) {
    ++iteration_;
    if (!team.contains_self()) return false;
    write_all(world_, out_, poison<T>(std::min(out_.count, most_ * ranks(team))));
    write_all(world_, in_, values<T, Op>({iteration_, world_.pe(), team.size()}, elements));
    return true;
  }
  // Also what lies behind the output, one element, must still be poison.
  void end(const char* name, const Team& team, std::size_t n, int blocks, std::vector<T> wanted) {
    const std::size_t length = wanted.size() + (wanted.size() < most_ * ranks(team) ? 1 : 0);
    if (length > wanted.size()) wanted.push_back(poison<T>(1)[0]);
    expect_equal(errors_,
                 who(world_, std::string(name) + ", launch " + std::to_string(iteration_) + ", n " +
                                 std::to_string(n) + ", blocks " + std::to_string(blocks)),
                 read_all(world_, out_, length), wanted);
  }

  W& world_;
  Errors& errors_;
  std::size_t most_;
  Channel channel_;
  Window<T> in_, out_, work_;
  int iteration_ = 0;
};

inline const std::vector<std::size_t>& counts_for(int pes) {
  static const std::vector<std::size_t> all{0, 1, 3, 8, 17, 1000, 4099};
  static const std::vector<std::size_t> few{0, 1, 17, 300};  // of many PEs
  return pes <= 8 ? all : few;
}

// What is swept: every count with every grid, the largest last.
struct Sweep {
  std::vector<std::size_t> counts;
  std::vector<int> blocks;
};

template <class T, class W>
void sums_of(W& world, Errors& errors, const Sweep& sweep) {
  Collectives<T, W> collectives(world, errors, sweep.counts.back(), sweep.blocks.back());
  for (std::size_t n : sweep.counts) {
    for (int blocks : sweep.blocks) {
      collectives.template reductions<Sum>(world.team(), n, blocks);
      collectives.movements(world.team(), n, blocks);
    }
  }
}

template <class T, class W>
void sums(W& world, Errors& errors) {
  sums_of<T>(world, errors, {counts_for(world.n_pes()), {1, 3}});
}

// Small enough for thousands of seeds (tests/nightly.sh).
template <class W>
void few_sums(W& world, Errors& errors) {
  sums_of<bf16>(world, errors, {{1, 17, 64}, {2}});
}

template <class W>
void all_ops(W& world, Errors& errors) {
  Collectives<bf16, W> collectives(world, errors, 1000);
  for (std::size_t n : {1, 17, 1000}) {
    collectives.template reductions<Prod>(world.team(), n, 3);
    collectives.template reductions<Max>(world.team(), n, 1);
    collectives.template reductions<Min>(world.team(), n, 3);
    collectives.template reductions<Avg>(world.team(), n, 1);
  }
}

template <class W>
std::vector<Case<W>> collective_cases() {
  const Effort once = Effort::worst_only;
  std::vector<Case<W>> cases{{"bf16_every_schedule", {1, 2, 3, 5}, sums<bf16, W>},
                             {"bf16", {6, 7, 8, 33}, sums<bf16, W>, once},
                             {"bf16_small", {1, 2, 3, 4}, few_sums<W>},
                             {"i32", {2, 7}, sums<std::int32_t, W>, once},
                             {"every_op", {1, 3, 8}, all_ops<W>, once}};
  if constexpr (!few_kernels) {
    cases.push_back({"f16", {3, 8}, sums<f16, W>, once});
    cases.push_back({"f32", {1, 2, 3, 5, 6, 7, 8}, sums<float, W>, once});
    cases.push_back({"f64", {5, 6}, sums<double, W>, once});
    cases.push_back({"i64", {6}, sums<std::int64_t, W>, once});
    cases.push_back({"u8", {3, 8}, sums<std::uint8_t, W>, once});
  }
  return cases;
}

}  // namespace sym::conformance
