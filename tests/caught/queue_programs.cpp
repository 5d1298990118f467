// Distributed GEMM as one writes it at first: copies and products on queues, of which one begins
// too early, or a flag or a credit is missing.
#include "backends/host/gemm.hpp"
#include "core/collective/share.hpp"
#include "tests/caught/caught.hpp"

namespace sym::caught {

namespace {

constexpr std::size_t side = 4;  // of every matrix
constexpr std::size_t size = side * side;
constexpr int compute = 0;  // queues
constexpr int copies = 1;
constexpr std::size_t ready = 0;  // slots
constexpr std::size_t done = 1;

Matrix<float> square(Window<float> window) { return Matrix<float>{window, side, side, side}; }

// A shard of A on each PE, room for a peer's, the weights, and two products.
struct Shop {
  Window<float> shard, arrived, weights, first, second;
  Posts posts;
  explicit Shop(FiberWorld& world)
      : shard(world.allocate<float>(size)),
        arrived(world.allocate<float>(size)),
        weights(world.allocate<float>(size)),
        first(world.allocate<float>(size)),
        second(world.allocate<float>(size)),
        posts(world.posts(2)) {
    write_all(world, shard, conformance::values<float>({1, world.pe(), world.n_pes()}, size));
    world.barrier();
  }
  Gemm<float> product(Window<float> a, Window<float> d) const {
    return Gemm<float>{square(a), square(weights), {}, square(d), 0, {}};
  }
};

// The next layer's kernel: it writes the shard that peers have fetched.
struct Rewrites {
  Window<float> shard;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    block.transform(
        shard, Range{0, size}, [](float x) { return x + 1; }, shard);
  }
};

// A stage that is a kernel of the user's, not a gemm: it reads what has arrived.
struct Uses {
  Window<float> arrived, result;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    block.transform(result, Range{0, size}, detail::Identity{}, arrived);
  }
};

int peer_of(FiberWorld& world) { return (world.pe() + 1) % world.n_pes(); }
int reader_of(FiberWorld& world) { return (world.pe() + world.n_pes() - 1) % world.n_pes(); }

// The PE goes on to the next layer while a peer's copy queue may still fetch its shard.
void missing_exit(FiberWorld& world, bool fixed) {
  const Shop shop(world);
  auto& queue = world.queue(copies);
  queue.get(square(shop.arrived), square(shop.shard), peer_of(world));
  if (fixed) {
    queue.post(shop.posts, done, peer_of(world));
    queue.take(shop.posts, done, reader_of(world));
  }
  queue.launch(launch_of("next_layer"), Rewrites{shop.shard});
}

// A shard that this step has made is fetched before its owner says that it is there.
void missing_entry(FiberWorld& world, bool fixed) {
  const Shop shop(world);
  auto& queue = world.queue(copies);
  queue.launch(launch_of("makes"), Rewrites{shop.shard});
  queue.post(shop.posts, ready, reader_of(world));
  if (fixed) queue.take(shop.posts, ready, peer_of(world));
  queue.get(square(shop.arrived), square(shop.shard), peer_of(world));
  if (!fixed) queue.take(shop.posts, ready, peer_of(world));
}

// The shard is pushed; the stage that uses it takes no flag.
template <class Stage>
void stage_before_take(FiberWorld& world, bool fixed, Stage stage) {
  const Shop shop(world);
  world.queue(copies).put(square(shop.arrived), square(shop.shard), peer_of(world));
  world.queue(copies).post(shop.posts, ready, peer_of(world));
  auto& queue = world.queue(compute);
  if (fixed) queue.take(shop.posts, ready, reader_of(world));
  stage(queue, shop);
}
void gemm_before_take(FiberWorld& world, bool fixed) {
  stage_before_take(world, fixed, [](auto& queue, const Shop& shop) {
    queue.gemm(shop.product(shop.arrived, shop.first));
  });
}
void launch_before_take(FiberWorld& world, bool fixed) {
  stage_before_take(world, fixed, [](auto& queue, const Shop& shop) {
    queue.launch(launch_of("stage"), Uses{shop.arrived, shop.first});
  });
}

// The shard is fetched by this PE's own copy queue, for which the compute queue does not wait.
// Taken from a capture: each replay has the bug.
void gemm_before_mark(FiberWorld& world, bool fixed) {
  const Shop shop(world);
  world.begin_capture();
  world.queue(copies).get(square(shop.arrived), square(shop.shard), peer_of(world));
  const Mark arrived = world.queue(copies).record();
  if (fixed) world.queue(compute).after(arrived);
  world.queue(compute).gemm(shop.product(shop.arrived, shop.first));
  const GraphId graph = world.end_capture();
  for (int replay = 0; replay < 2; ++replay) world.replay(graph);
}

// The second shard comes into the buffer that the first product may still read: no credit.
void buffer_without_credit(FiberWorld& world, bool fixed) {
  const Shop shop(world);
  auto& copy = world.queue(copies);
  auto& multiply = world.queue(compute);
  copy.get(square(shop.arrived), square(shop.shard), peer_of(world));
  multiply.after(copy.record());
  multiply.gemm(shop.product(shop.arrived, shop.first));
  if (fixed) copy.after(multiply.record());
  copy.get(square(shop.arrived), square(shop.shard), reader_of(world));
  multiply.after(copy.record());
  multiply.gemm(shop.product(shop.arrived, shop.second));
}

// The same between PEs: two shards pushed to one buffer, the second without its reader's leave.
void push_without_credit(FiberWorld& world, bool fixed) {
  const Shop shop(world);
  auto& copy = world.queue(copies);
  auto& multiply = world.queue(compute);
  for (int step = 0; step < 2; ++step) {
    const std::size_t slot = fixed ? ready : static_cast<std::size_t>(step);
    if (fixed && step > 0) copy.take(shop.posts, done, peer_of(world));
    copy.put(square(shop.arrived), square(shop.shard), peer_of(world));
    copy.post(shop.posts, slot, peer_of(world));
    multiply.take(shop.posts, slot, reader_of(world));
    multiply.gemm(shop.product(shop.arrived, step == 0 ? shop.first : shop.second));
    if (fixed && step == 0) multiply.post(shop.posts, done, reader_of(world));
  }
}

// A flag is binary: a second post before the take is lost. Repaired, the poster waits for a credit.
void posted_twice(FiberWorld& world, bool fixed) {
  const Shop shop(world);
  auto& queue = world.queue(copies);
  for (int step = 0; step < 2; ++step) {
    if (world.pe() == 0) {
      queue.post(shop.posts, ready, 1);
      if (fixed) queue.take(shop.posts, done, 1);
    } else {
      queue.take(shop.posts, ready, 0);
      if (fixed) queue.post(shop.posts, done, 0);
    }
  }
}

// PE 1 waits for a shard of PE 0, which announces it in the other slot.
void taken_never_posted(FiberWorld& world, bool fixed) {
  const Shop shop(world);
  if (world.pe() == 0) {
    world.queue(copies).put(square(shop.arrived), square(shop.shard), 1);
    world.queue(copies).post(shop.posts, fixed ? ready : done, 1);
  } else {
    world.queue(compute).take(shop.posts, ready, 0);
    world.queue(compute).launch(launch_of("stage"), Uses{shop.arrived, shop.first});
  }
}

// Each takes the other's flag before it posts its own, in one queue.
void flags_in_a_circle(FiberWorld& world, bool fixed) {
  const Shop shop(world);
  auto& queue = world.queue(copies);
  if (fixed) queue.post(shop.posts, ready, peer_of(world));
  queue.take(shop.posts, ready, peer_of(world));
  if (!fixed) queue.post(shop.posts, ready, peer_of(world));
}

bool has_gemm() {
  try {
    host::require_gemm();
  } catch (const Unavailable&) {
    return false;
  }
  return true;
}

}  // namespace

std::vector<Program> queue_programs() {
  std::vector<Program> all{
      {"shard_rewritten_without_exit", "race", 3, missing_exit, {"get", "transform"}},
      {"shard_fetched_without_entry", "race", 3, missing_entry, {"transform", "get"}},
      {"launch_before_take", "race", 2, launch_before_take, {"put", "transform"}},
      {"flag_posted_twice",
       "post",
       2,
       posted_twice,
       {"POST the flag of slot 0 at PE 1 has not been taken"}},
      {"flag_never_posted",
       "deadlock",
       2,
       taken_never_posted,
       {"PE 1 queue 0", "slot 0", "missing: PE 0"}},
      {"flags_in_a_circle", "deadlock", 2, flags_in_a_circle, {"PE 0 queue 1", "PE 1 queue 1"}}};
  if (!has_gemm()) return all;
  all.push_back({"gemm_before_take", "race", 2, gemm_before_take, {"put", "gemm"}});
  all.push_back({"gemm_before_mark", "race", 2, gemm_before_mark, {"get", "gemm"}});
  all.push_back({"buffer_without_credit", "race", 3, buffer_without_credit, {"gemm", "get"}});
  all.push_back({"push_without_credit", "race", 3, push_without_credit, {"gemm", "put"}});
  return all;
}

}  // namespace sym::caught
