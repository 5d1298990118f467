// The kernels that are to be quick, for bf16, without what only unaligned ranges and rests of less
// than 16 bytes need (pack.cuh, assume_wide). check.sh looks at what the compiler makes of them.
#define SYM_ASSUME_WIDE
#include "backends/cuda/launch.cuh"
#include "core/collective/tile_reduce.hpp"
#include "experiments/sym/collective_kernels.hpp"
#include "experiments/sym/norm_kernels.hpp"

namespace sym::code {

using T = bf16;

struct TileReduce {
  Group group;
  TileList tiles;
  Matrix<T> in, out;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    block.enter(group.channel);
    tile_reduce(block, group, tiles, in, out, Sum{});
    block.leave(group.channel);
  }
};

}  // namespace sym::code

using sym::LaunchConfig;
using sym::Window;
using sym::code::T;
using sym::command::Variant;

#define SYM_NAMED(NAME, ...)                                                       \
  namespace sym::code {                                                            \
  struct NAME : __VA_ARGS__ {};                                                    \
  }                                                                                \
  template void sym::cuda::CudaWorld::launch<sym::code::NAME>(const LaunchConfig&, \
                                                              const sym::code::NAME&);

SYM_NAMED(AllReduceOneShot, sym::command::AllReduceKernel<Variant::one_shot, T, sym::Sum>)
SYM_NAMED(AllReduceTwoShot, sym::command::AllReduceKernel<Variant::two_shot, T, sym::Sum>)
SYM_NAMED(AllGatherDirect, sym::command::AllGatherKernel<Variant::direct, T>)
SYM_NAMED(ReduceScatterDirect, sym::command::ReduceScatterKernel<Variant::direct, T, sym::Sum>)
SYM_NAMED(ReduceScatterOneShot, sym::command::ReduceScatterKernel<Variant::one_shot, T, sym::Sum>)
SYM_NAMED(NormOneShot,
          sym::command::AllReduceNormKernel<sym::command::NormVariant::one_shot, Window<T>, true>)
SYM_NAMED(Tiles, sym::code::TileReduce)
