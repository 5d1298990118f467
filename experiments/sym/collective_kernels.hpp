// Kernels of the shipped collectives: what `sym run` launches. One function object for each.
#pragma once

#include "core/collective/all_gather.hpp"
#include "core/collective/all_reduce.hpp"
#include "core/collective/broadcast.hpp"
#include "core/collective/hierarchical.hpp"
#include "core/collective/reduce_scatter.hpp"

namespace sym::command {

enum class Variant { one_shot, one_shot_read, two_shot, ring, direct, push };

template <Variant variant, class T, class Op>
struct AllReduceKernel {
  Group group;
  Window<T> in, out;
  std::size_t n;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    block.enter(group.channel);
    if constexpr (variant == Variant::one_shot) all_reduce_one_shot(block, group, in, out, n, Op{});
    if constexpr (variant == Variant::one_shot_read) {
      all_reduce_one_shot_read(block, group, in, out, n, Op{});
    }
    if constexpr (variant == Variant::two_shot) all_reduce_two_shot(block, group, in, out, n, Op{});
    if constexpr (variant == Variant::ring) all_reduce_ring(block, group, in, out, n, Op{});
    block.leave(group.channel);
  }
};

template <class T, class Op>
struct HierarchicalAllReduceKernel {
  Group group;
  Window<T> in, work, out;
  std::size_t n;
  int per_node;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    block.enter(group.channel);
    all_reduce_hierarchical(block, group, in, work, out, n, Op{}, per_node);
    block.leave(group.channel);
  }
};

template <Variant variant, class T, class Op>
struct ReduceScatterKernel {
  Group group;
  Window<T> in, work, out;
  std::size_t n;
  int pieces = 1;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    block.enter(group.channel);
    if constexpr (variant == Variant::one_shot)
      reduce_scatter_one_shot(block, group, in, out, n, Op{});
    if constexpr (variant == Variant::direct) reduce_scatter_direct(block, group, in, out, n, Op{});
    if constexpr (variant == Variant::push)
      reduce_scatter_push(block, group, in, work, out, n, Op{}, pieces);
    if constexpr (variant == Variant::ring)
      reduce_scatter_ring(block, group, in, work, out, n, Op{});
    block.leave(group.channel);
  }
};

template <Variant variant, class T>
struct AllGatherKernel {
  Group group;
  Window<T> in, out;
  std::size_t n;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    block.enter(group.channel);
    if constexpr (variant == Variant::one_shot) all_gather_one_shot(block, group, in, out, n);
    if constexpr (variant == Variant::direct) all_gather_direct(block, group, in, out, n);
    if constexpr (variant == Variant::ring) all_gather_ring(block, group, in, out, n);
    block.leave(group.channel);
  }
};

template <Variant variant, class T>
struct BroadcastKernel {
  Group group;
  Window<T> in, out;
  std::size_t n;
  int root;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    block.enter(group.channel);
    if constexpr (variant == Variant::one_shot) broadcast_one_shot(block, group, in, out, n, root);
    if constexpr (variant == Variant::direct) broadcast_direct(block, group, in, out, n, root);
    if constexpr (variant == Variant::two_shot) broadcast_two_shot(block, group, in, out, n, root);
    block.leave(group.channel);
  }
};

}  // namespace sym::command
