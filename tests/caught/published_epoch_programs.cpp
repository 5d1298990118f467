// Reports of other projects: epochs, slots and resets.
#include <limits>

#include "core/collective/barrier.hpp"
#include "core/collective/share.hpp"
#include "core/moe/counts.hpp"
#include "tests/caught/caught.hpp"

namespace sym::caught {

namespace {

constexpr Range all{0, Desk::n};
using Words = Window<std::uint64_t>;

// ROCm/aiter#3928: the epoch is a number of the host, frozen in the graph. On the second replay the
// wait ends on the first one's value. Repaired, the channel counts in device memory.
struct FrozenEpoch {
  Desk desk;
  std::uint64_t epoch;
  bool fixed, waits, uses;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    const Signals& steps = desk.group.channel.steps;
    const Team peer = desk.group.team.only(1 - block.pe());
    if (block.pe() == 0 && waits) {
      block.put_signal(desk.a, desk.b, all, fixed ? steps : desk.counter, 0, 1);
      block.quiet();
    } else if (block.pe() == 1 && waits) {
      fixed ? block.wait_until(steps, 0, peer) : block.wait_until(desk.counter, 0, epoch) != 0;
    }
    if (block.pe() == 1 && uses) block.transform(desk.out, all, detail::Identity{}, desk.a);
    if (uses) barrier(block, desk.group);  // the credit for the next replay
  }
};
void replay_twice(FiberWorld& world, bool fixed, bool apart) {
  const Desk desk(world);
  world.begin_capture();
  world.launch(launch_of("waits"), FrozenEpoch{desk, 1, fixed, true, !apart});
  if (apart) world.launch(launch_of("uses"), FrozenEpoch{desk, 1, fixed, false, true});
  const GraphId graph = world.end_capture();
  for (int replay = 0; replay < 2; ++replay) world.replay(graph);
}
void frozen_epoch(FiberWorld& world, bool fixed) { replay_twice(world, fixed, false); }
// meta-pytorch/torchcomms#1177: the same with the wait as an operation of the stream.
void frozen_stream_wait(FiberWorld& world, bool fixed) { replay_twice(world, fixed, true); }

// pytorch/pytorch#196546: each PE clears its pad after the collective allocation has returned, when
// a fast peer may have been there.
struct RaisesFlag {
  Words pad;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    block.put_value(pad, 0, std::uint64_t{1}, 1 - block.pe());
    block.quiet();
  }
};
void pad_cleared_late(FiberWorld& world, bool fixed) {
  const auto pad = world.allocate_control<std::uint64_t>(4);
  write_all(world, pad, std::vector<std::uint64_t>(4));
  if (fixed) world.barrier();
  world.launch(launch_of("flags"), RaisesFlag{pad});
}

// apache/tvm#16797: the barrier's own words are reset by a kernel after everybody knows them.
struct ResetsBarrier {
  Desk desk;
  bool fixed;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    const Words words = desk.words;
    block.transform(words, words.all(), detail::Constant<std::uint64_t>{0});
    block.sync();
    if (fixed) barrier(block, desk.group);
    for (int pe = 0; pe < block.n_pes(); ++pe) block.fetch_add(words, 0, std::uint64_t{1}, pe);
  }
};

// deepseek-ai/DeepEP#310: a head that was sent in one round lands after the next has cleared it.
struct Heads {
  Desk desk;
  bool fixed;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    if (block.pe() == 0) {
      block.put_value(desk.words, 0, std::uint64_t{7}, 1);
      if (fixed) block.quiet();
    }
  }
};
struct Clears {
  Desk desk;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    if (block.pe() == 0) {
      block.signal(desk.counter, 0, 1);
      block.quiet();
    } else if (block.wait_until(desk.counter, 0, std::uint64_t{1}) != 0) {
      block.transform(desk.words, Range{0, 1}, detail::Constant<std::uint64_t>{0});
    }
  }
};
void head_after_clear(FiberWorld& world, bool fixed) {
  const Desk desk(world);
  world.launch(launch_of("heads"), Heads{desk, fixed});
  world.launch(launch_of("clears"), Clears{desk});
}

// deepseek-ai/DeepEP#513: each phase uses one buffer and clears the other for the next phase. Of
// two phases that overlap, each clears what the other uses.
struct Phase {
  Words uses, clears;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    block.transform(clears, clears.all(), detail::Constant<std::uint64_t>{0});
    block.put_value(uses, 0, std::uint64_t{1}, 1 - block.pe());
    block.quiet();
  }
};
void clears_each_other(FiberWorld& world, bool fixed) {
  std::vector<Words> buffers;
  for (int i = 0; i < 4; ++i) buffers.push_back(world.allocate_control<std::uint64_t>(1));
  world.launch(launch_of("dispatch", 1, 0), Phase{buffers[0], buffers[1]});
  world.launch(launch_of("combine", 1, 1),
               fixed ? Phase{buffers[2], buffers[3]} : Phase{buffers[1], buffers[0]});
}

// uccl-project/uccl#1052: rounds are counted in a signed number that is too narrow (8 bits here, so
// that the wrap comes soon), and widened for the comparison.
template <class Narrow>
struct NarrowRounds {
  Desk desk;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    constexpr int rounds = std::numeric_limits<std::int8_t>::max() + 2;
    Narrow round = 0;
    for (int i = 0; i < rounds; ++i) {
      round = static_cast<Narrow>(round + 1);
      block.signal(desk.counter, 0, 1 - block.pe());
      block.wait_until(desk.counter, 0, static_cast<std::uint64_t>(round));
    }
  }
};
void narrow_rounds(FiberWorld& world, bool fixed) {
  const Desk desk(world);
  if (fixed) world.launch(launch_of("rounds"), NarrowRounds<std::uint64_t>{desk});
  if (!fixed) world.launch(launch_of("rounds"), NarrowRounds<std::int8_t>{desk});
}

// NVIDIA/cuml#458: a barrier with one phase. Whoever comes back finds the count of the last round
// and goes on, while the others have not left.
struct OnePhase {
  Desk desk;
  bool fixed;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    for (std::uint64_t round = 1; round <= 2; ++round) {
      if (round == 1) block.transform(desk.a, all, detail::Identity{}, desk.b);
      if (round == 2) block.reduce(desk.out, desk.a, all, desk.group.team, Sum{});
      block.signal(desk.counter, 0, 1 - block.pe());
      block.wait_until(desk.counter, 0, fixed ? round : 1);
    }
    block.transform(desk.a, all, detail::Identity{}, desk.b);
  }
};

// meta-pytorch/torchcomms#3407: a late block overwrites "done" with "started".
struct States {
  Desk desk;
  bool fixed;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    const auto own = fixed ? static_cast<std::size_t>(block.index()) : 0;
    if (block.pe() == 0) block.put_value(desk.words, own, std::uint64_t{1}, 1);
    if (block.pe() == 0) block.fence(1);
    if (block.pe() == 0) block.put_value(desk.words, own, std::uint64_t{2}, 1);
    block.quiet();
  }
};

// flashinfer-ai/flashinfer#3053: the reader puts the sentinel back when the writer may already have
// written the next message.
struct Sentinel {
  Desk desk;
  bool fixed;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    for (std::uint64_t message = 1; message <= 2; ++message) {
      if (block.pe() == 0) {
        if (message > 1) block.wait_until(desk.counter, 1, message - 1);
        block.put_signal(desk.a, desk.b, all, desk.counter, 0, 1);
        block.quiet();
      } else {
        block.wait_until(desk.counter, 0, message);
        block.transform(desk.out, all, detail::Identity{}, desk.a);
        if (!fixed) block.signal(desk.counter, 1, 0);
        block.transform(desk.a, all, detail::Constant<float>{-0.0F});
        if (fixed) block.signal(desk.counter, 1, 0);
      }
    }
    block.quiet();
  }
};

}  // namespace

std::vector<Program> published_epoch_programs() {
  return {
      {"frozen_epoch", "race", 2, frozen_epoch, {"put_signal", "transform"}},
      {"frozen_stream_wait", "race", 2, frozen_stream_wait, {"put_signal", "transform"}},
      {"pad_cleared_late", "race", 2, pad_cleared_late, {"host", "put_value"}},
      {"barrier_reset_late", "race", 2, one_launch_of<ResetsBarrier>, {"transform", "fetch_add"}},
      {"head_after_clear", "race", 2, head_after_clear, {"put_value", "transform"}},
      {"clears_each_other", "race", 2, clears_each_other, {"transform", "put_value"}},
      {"narrow_rounds", "deadlock", 2, narrow_rounds, {"expected 18446744073709551488, seen 128"}},
      {"one_phase_barrier", "race", 2, one_launch_of<OnePhase>, {"transform", "reduce"}},
      {"state_set_back", "race", 2, one_launch_of<States, 2>, {"put_value vs put_value"}},
      {"sentinel_put_back_late", "race", 2, one_launch_of<Sentinel>, {"transform", "put_signal"}}};
}

}  // namespace sym::caught
