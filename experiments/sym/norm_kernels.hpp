// Kernels of all_reduce_rms_norm: what `sym run` and the conformance cases launch.
#pragma once

#include "core/collective/all_reduce.hpp"
#include "core/collective/rms_norm.hpp"

namespace sym::command {

enum class NormVariant { one_shot, two_shot };

template <NormVariant variant, Operand M, bool adds_residual>
struct AllReduceNormKernel {
  Group group;
  RmsNorm<M, adds_residual> norm;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    block.enter(group.channel);
    if constexpr (variant == NormVariant::one_shot)
      all_reduce_rms_norm_one_shot(block, group, norm);
    if constexpr (variant == NormVariant::two_shot)
      all_reduce_rms_norm_two_shot(block, group, norm);
    block.leave(group.channel);
  }
};

template <Operand M, bool adds_residual>
struct NormKernel {
  RmsNorm<M, adds_residual> norm;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    rms_norm(block, norm);
  }
};

}  // namespace sym::command
