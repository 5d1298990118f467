// Every algorithm compiles against exactly the contract, and the concepts refuse what is not
// enough.
#include <gtest/gtest.h>

#include "core/collective/all_gather.hpp"
#include "core/collective/all_reduce.hpp"
#include "core/collective/all_to_all.hpp"
#include "core/collective/broadcast.hpp"
#include "core/collective/entry.hpp"
#include "core/collective/hierarchical.hpp"
#include "core/collective/hierarchical_rails.hpp"
#include "core/collective/hierarchical_shares.hpp"
#include "core/collective/nvls.hpp"
#include "core/collective/reduce_scatter.hpp"
#include "core/collective/ring_pipelined.hpp"
#include "core/collective/rms_norm.hpp"
#include "core/collective/tile_reduce.hpp"
#include "core/gemm/instances.hpp"
#include "core/gemm/run.hpp"
#include "core/moe/all_to_all_v.hpp"
#include "core/moe/combine.hpp"
#include "core/moe/dispatch.hpp"

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
  all_reduce_hierarchical(block, group, in, local, out, n, Sum{}, 1);
  all_reduce_hierarchical_hd(block, group, in, in, out, n, Sum{}, 1);
  all_reduce_hierarchical_tree(block, group, in, in, out, n, Max{}, 1, 2);
  all_reduce_halving_doubling(block, group, in, in, out, n, Avg{});
  all_reduce_double_tree(block, group, in, in, out, n, Min{}, 2);
  all_reduce_ring_pipelined(block, group, local, out, n, Sum{}, 2);
  all_to_all_one_shot(block, group, local, out, n);
  all_to_all_direct(block, group, local, out, n);
  all_to_all_two_hop(block, group, local, in, out, n, 1);
  all_gather_hierarchical(block, group, local, out, n, 1);
  reduce_scatter_hierarchical(block, group, in, in, local, n, Sum{}, 1);
  all_gather_one_shot(block, group, local, local, n);
  all_gather_direct(block, group, local, out, n);
  all_gather_ring(block, group, in, out, n);
  reduce_scatter_one_shot(block, group, in, local, n, Max{});
  reduce_scatter_direct(block, group, in, local, n, Sum{});
  reduce_scatter_push(block, group, local, in, local, n, Sum{}, 2);
  reduce_scatter_ring(block, group, local, in, local, n, Sum{});
  broadcast_one_shot(block, group, local, local, n, 0);
  broadcast_direct(block, group, local, out, n, 0);
  broadcast_two_shot(block, group, in, out, n, 0);
  tile_reduce(block, group, TileList{}, Matrix<T>{}, Matrix<T>{}, Sum{});
}

template <class T>
void all_by_multicast() {
  MulticastArchetype block;
  const Group group;
  const Window<T> in;
  const Window<T> out;
  const Local<T> local;
  constexpr std::size_t n = 10;
  all_reduce_nvls(block, group, in, out, n, Sum{});
  all_reduce_nvls_tree(block, group, in, in, out, n, Max{}, 1, 2);
  all_gather_nvls(block, group, local, out, n);
  reduce_scatter_nvls(block, group, in, local, n, Avg{});
}

template <class T>
void all_norms() {
  BlockArchetype block;
  Group group;
  RmsNorm<Window<T>> norm;
  RmsNorm<Local<T>, true> with_residual;
  norm.rows = with_residual.rows = 3;
  all_reduce_rms_norm_one_shot(block, group, norm);
  all_reduce_rms_norm_one_shot(block, group, with_residual);
  all_reduce_rms_norm_two_shot(block, group, norm);
  rms_norm(block, with_residual);
}

TEST(Archetype, EveryAlgorithmNeedsNoMoreThanTheConcept) {
  all_algorithms<bf16>();
  all_by_multicast<bf16>();
  all_algorithms<double>();
  all_by_multicast<double>();
  all_algorithms<std::uint8_t>();
  all_norms<bf16>();
  all_norms<float>();
}

// A World of one PE that does nothing but count what is allocated.
struct WorldArchetype {
  int pe() const { return 0; }
  int n_pes() const { return 1; }
  Team team() const { return {}; }
  Team team(const std::vector<int>&) { return {}; }
  template <class T>
  Window<T> allocate(std::size_t n) {
    return Window<T>{Segment::payload, 0, n};
  }
  template <class T>
  Window<T> allocate_control(std::size_t n) {
    return Window<T>{Segment::control, 0, n};
  }
  template <class T>
  void free(Window<T>) {}
  template <class T>
  Local<T> local(std::size_t n) {
    return Local<T>{nullptr, n};
  }
  Channel channel(const ChannelRequest&) { return {}; }
  template <class M, class T>
  void write(M, const T*, std::size_t) {}
  template <class T, class M>
  void read(T*, M, std::size_t) {}
  template <class Kernel>
  void launch(const LaunchConfig&, const Kernel& kernel) {
    BlockArchetype block;
    kernel(block);
    ++launches;
  }
  void synchronize() {}
  void barrier() {}
  QueueArchetype& queue(int) { return queue_; }
  Posts posts(std::size_t slots) { return Posts{{}, slots, 1}; }
  void begin_capture() {}
  GraphId end_capture() { return {}; }
  void replay(GraphId) {}
  void recover() {}
  double mark_us() { return 0; }
  bool moves_data() const { return true; }

  int launches = 0;

 private:
  QueueArchetype queue_;
};
static_assert(World<WorldArchetype>);

template <class T>
void all_exchanges() {
  WorldArchetype world;
  auto moe = moe_channel(world, {4, 2, 8, 1, 16});
  const auto rows = world.allocate<T>(moe.request.capacity * 16);
  const auto x = world.local<T>(4 * 16);
  const Routing routing{world.allocate_control<std::int32_t>(8), world.local<float>(8), 4};
  dispatch(moe, x, routing, rows);
  combine(moe, rows, routing, x);
  auto exchange = all_to_all_v_channel(world, {3, 5});
  all_to_all_v(exchange, x, world.allocate_control<std::uint32_t>(1), world.allocate<T>(15));
  EXPECT_EQ(world.launches, 5);
}

template <class T>
void all_schedules() {
  for (const gemm::ScheduleMaker& maker : gemm::schedules()) {
    const gemm::Schedule schedule = maker.make(1, {});
    WorldArchetype world;
    gemm::Runner<WorldArchetype, T> runner(
        world, gemm::derive(schedule, gemm::even_tiling({4, 5, 6}, schedule.parts)));
    gemm::Operands<T> x;
    x.a = world.allocate<T>(24);
    x.b = world.allocate<T>(30);
    x.d = world.allocate<T>(20);
    runner.prepare(x);
    runner.run(x);
    runner.free();
  }
}

TEST(Archetype, ExchangesNeedNoMoreThanTheConcepts) {
  all_exchanges<bf16>();
  all_exchanges<double>();
}

TEST(Archetype, DistributedGemmNeedsNoMoreThanTheConcepts) {
  all_schedules<bf16>();
  all_schedules<double>();
}

}  // namespace
}  // namespace sym
