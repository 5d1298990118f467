// Every algorithm compiles against exactly the contract, and the concepts refuse what is not
// enough.
#include <gtest/gtest.h>

#include "core/collective/all_gather.hpp"
#include "core/collective/all_reduce.hpp"
#include "core/collective/broadcast.hpp"
#include "core/collective/entry.hpp"
#include "core/collective/reduce_scatter.hpp"

namespace sym {
namespace {

struct NotABlock {
  int pe() const { return 0; }
};
static_assert(!Block<NotABlock>);
static_assert(!Block<int>);
static_assert(!World<NotABlock>);

template <class T>
void all_algorithms() {
  BlockArchetype block;
  Group group;
  group.channel.inbox.capacity_bytes = 64;
  const Window<T> in;
  const Window<T> out;
  const Local<T> local;
  constexpr std::size_t n = 10;
  EXPECT_TRUE(barrier(block, group));
  all_reduce_one_shot(block, group, in, out, n, Sum{});
  all_reduce_one_shot(block, group, local, local, n, Max{});
  all_reduce_one_shot_read(block, group, in, out, n, Sum{});
  all_reduce_one_shot_read(block, group, in, local, n, Min{});
  all_reduce_two_shot(block, group, in, out, n, Prod{});
  all_reduce_ring(block, group, in, out, n, Avg{});
  all_reduce_ring(block, group, local, out, n, Sum{});
  all_gather_direct(block, group, local, out, n);
  all_gather_ring(block, group, in, out, n);
  reduce_scatter_direct(block, group, in, local, n, Sum{});
  reduce_scatter_ring(block, group, local, in, local, n, Sum{});
  broadcast_direct(block, group, local, out, n, 0);
  broadcast_two_shot(block, group, in, out, n, 0);
}

TEST(Archetype, EveryAlgorithmNeedsNoMoreThanTheConcept) {
  all_algorithms<bf16>();
  all_algorithms<double>();
  all_algorithms<std::uint8_t>();
}

}  // namespace
}  // namespace sym
