// Kernels of the variants for many PEs: what `sym run` launches.
#pragma once

#include "core/collective/all_to_all.hpp"
#include "core/collective/hierarchical_rails.hpp"
#include "core/collective/hierarchical_shares.hpp"
#include "core/collective/nvls.hpp"
#include "core/collective/ring_pipelined.hpp"
#include "core/world.hpp"

namespace sym::command {

// A World of GPUs. A kernel takes seconds to compile for it, so there these are for sums alone.
template <class W>
inline constexpr bool compiles_slowly = requires(W& world) {
  world.time_graph_us(GraphId{}, 1);
};

enum class Scale {
  ring_pipelined,
  halving_doubling,
  double_tree,
  hierarchical_hd,
  hierarchical_tree,
  all_gather_hierarchical,
  reduce_scatter_hierarchical,
  all_to_all_one_shot,
  all_to_all_direct,
  all_to_all_two_hop,
  nvls,
  nvls_tree,
  all_gather_nvls,
  reduce_scatter_nvls
};

// What every one of them is called with; a variant that has no use for a part ignores it.
template <class T>
struct ScaleArguments {
  Group group;
  Window<T> in, work, out;
  std::size_t n = 0;
  int per_node = 1;
  int pieces = 1;
};

template <Scale variant>
inline constexpr bool is_multicast =
    variant == Scale::nvls || variant == Scale::nvls_tree || variant == Scale::all_gather_nvls ||
    variant == Scale::reduce_scatter_nvls;

template <Scale variant, class T, class Op>
struct ScaleKernel {
  ScaleArguments<T> a;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    block.enter(a.group.channel);
    if constexpr (variant == Scale::ring_pipelined)
      all_reduce_ring_pipelined(block, a.group, a.in, a.out, a.n, Op{}, a.pieces);
    if constexpr (variant == Scale::halving_doubling)
      all_reduce_halving_doubling(block, a.group, a.in, a.work, a.out, a.n, Op{});
    if constexpr (variant == Scale::double_tree)
      all_reduce_double_tree(block, a.group, a.in, a.work, a.out, a.n, Op{}, a.pieces);
    if constexpr (variant == Scale::hierarchical_hd)
      all_reduce_hierarchical_hd(block, a.group, a.in, a.work, a.out, a.n, Op{}, a.per_node);
    if constexpr (variant == Scale::hierarchical_tree)
      all_reduce_hierarchical_tree(block, a.group, a.in, a.work, a.out, a.n, Op{}, a.per_node,
                                   a.pieces);
    if constexpr (variant == Scale::all_gather_hierarchical)
      all_gather_hierarchical(block, a.group, a.in, a.out, a.n, a.per_node);
    if constexpr (variant == Scale::reduce_scatter_hierarchical)
      reduce_scatter_hierarchical(block, a.group, a.in, a.work, a.out, a.n, Op{}, a.per_node);
    if constexpr (variant == Scale::all_to_all_one_shot)
      all_to_all_one_shot(block, a.group, a.in, a.out, a.n);
    if constexpr (variant == Scale::all_to_all_direct)
      all_to_all_direct(block, a.group, a.in, a.out, a.n);
    if constexpr (variant == Scale::all_to_all_two_hop)
      all_to_all_two_hop(block, a.group, a.in, a.work, a.out, a.n, a.per_node);
    if constexpr (is_multicast<variant>) by_multicast(block);
    block.leave(a.group.channel);
  }

 private:
  template <Block B>
  SYM_FN void by_multicast(B& block) const {
    block.require(false, needs_multicast);
  }
  template <MulticastBlock B>
  SYM_FN void by_multicast(B& block) const {
    if constexpr (variant == Scale::nvls) all_reduce_nvls(block, a.group, a.in, a.out, a.n, Op{});
    if constexpr (variant == Scale::nvls_tree)
      all_reduce_nvls_tree(block, a.group, a.in, a.work, a.out, a.n, Op{}, a.per_node, a.pieces);
    if constexpr (variant == Scale::all_gather_nvls)
      all_gather_nvls(block, a.group, a.in, a.out, a.n);
    if constexpr (variant == Scale::reduce_scatter_nvls)
      reduce_scatter_nvls(block, a.group, a.in, a.out, a.n, Op{});
  }
};

// Elements of `work` that a variant needs for n elements; 0 for none.
template <class T>
constexpr std::size_t scale_work(Scale variant, std::size_t n, int pes, int per_node, int blocks) {
  const int nodes = pes / per_node;
  switch (variant) {
    case Scale::halving_doubling:
      return halving_work<T>(n, pes, blocks);
    case Scale::hierarchical_hd:
      return halving_work<T>(n, nodes, blocks);
    case Scale::double_tree:
      return double_tree_work<T>(n);
    case Scale::hierarchical_tree:
    case Scale::nvls_tree:
      return hierarchical_tree_work<T>(n, blocks);
    case Scale::reduce_scatter_hierarchical:
      return n * static_cast<std::size_t>(nodes);
    case Scale::all_to_all_two_hop:
      return n * static_cast<std::size_t>(pes);
    default:
      return 0;
  }
}

}  // namespace sym::command
