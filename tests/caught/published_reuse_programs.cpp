// Reports of other projects: memory that is used again before its last user is done with it.
#include "core/collective/barrier.hpp"
#include "core/collective/share.hpp"
#include "tests/caught/caught.hpp"

namespace sym::caught {

namespace {

constexpr Range all{0, Desk::n};

// uccl-project/uccl#903: a ring of two places for three messages, and nobody says that a place is
// free again.
struct RingWithoutCredit {
  Desk desk;
  bool fixed;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    constexpr std::size_t places = 2, width = 8;
    for (std::size_t message = 0; message < places + 1; ++message) {
      const Window<float> place = desk.a.at(message % places * width);
      if (block.pe() == 0) {
        if (fixed && message >= places) block.wait_until(desk.counter, 1, message - places + 1);
        block.put(place, desk.b, Range{0, width}, 1);
        block.fence(1);
        block.signal(desk.counter, 0, 1);
      } else {
        block.wait_until(desk.counter, 0, message + 1);
        block.transform(desk.out, Range{0, width}, detail::Identity{}, place);
        if (fixed) block.signal(desk.counter, 1, 0);
      }
    }
    block.quiet();
  }
};

// ROCm/mori#366: staging memory is filled for the next launch while a transfer of the last one may
// still read it: that a launch has ended completes nothing.
struct Stages {
  Desk desk;
  bool fixed;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    block.transform(desk.b, all, detail::Identity{}, desk.out);
    block.put_signal(desk.a, desk.b, all, desk.group.channel.steps, 0, 1 - block.pe());
    block.wait_until(desk.group.channel.steps, 0, desk.group.team);
    if (fixed) block.quiet();
  }
};
void staging_refilled(FiberWorld& world, bool fixed) {
  const Desk desk(world);
  world.launch(launch_of("stages"), Stages{desk, fixed});
  write_all(world, desk.b, conformance::values<float>({2, world.pe(), 1}, Desk::n));
  world.barrier();
}

// vllm-project/vllm#45448: the dependents of a kernel are let go before its last store.
struct Stores {
  Window<float> to, from;
  Range part;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    block.transform(to, part, detail::Identity{}, from);
  }
};
void dependents_let_go_early(FiberWorld& world, bool fixed) {
  const Desk desk(world);
  const Range first{0, Desk::n / 2}, last{Desk::n / 2, Desk::n / 2};
  auto& kernels = world.queue(0);
  auto& dependents = world.queue(1);
  kernels.launch(launch_of("first"), Stores{desk.a, desk.b, first});
  Mark done = kernels.record();
  kernels.launch(launch_of("last"), Stores{desk.a, desk.b, last});
  if (fixed) done = kernels.record();
  dependents.after(done);
  dependents.launch(launch_of("dependent"), Stores{desk.b.at(0), desk.a, all});
}

// ROCm/mori#80: combine sends into the buffer that dispatch may still be copying from on a slow PE.
struct OneBuffer {
  Desk desk;
  bool fixed;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    const Signals& steps = desk.group.channel.steps;
    const Range row{0, 8};
    const int peer = 1 - block.pe();
    const Window<float> combine = desk.a.at(fixed ? row.count : 0);
    block.put_signal(desk.a, desk.b, row, steps, 0, peer);  // dispatch
    block.wait_until(steps, 0, desk.group.team);
    block.transform(desk.out, row, detail::Identity{}, desk.a);
    block.fence(peer);  // or the second signal may come first
    block.put_signal(combine, desk.b, row, steps, 0, peer);
    block.wait_until(steps, 0, desk.group.team);
    block.transform(desk.out, row, detail::Identity{}, combine);
    block.quiet();
  }
};

// vllm-project/vllm#25892: data has two buffers, but flags lie behind the data in the first. The
// next call is shorter, so its flag comes where a slow PE still reads data of this one.
struct FlagBehindData {
  Desk desk;
  bool fixed;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    for (std::size_t call = 0; call < 2; ++call) {
      const std::size_t length = call == 0 ? 64 : 32;
      const std::size_t flag = fixed ? Desk::n - 2 + call : length;
      const Window<float> data = call == 0 ? desk.a : desk.b;
      if (block.pe() == 0) {
        block.put(data, desk.out, Range{0, length}, 1);
        block.put_value(desk.a, flag, 1.0F, 1);
        block.fence(1);
        block.signal(desk.counter, call, 1);
      } else {
        block.wait_until(desk.counter, call, std::uint64_t{1});
        block.transform(desk.out, Range{0, length}, detail::Identity{}, data);
      }
    }
    block.quiet();
  }
};

// tenstorrent/tt-metal#19164, #48469: one count of arrivals. A fast PE's signal of the next
// operation stands in for that of a slow PE, which has not come to this one.
struct NextOperation {
  Desk desk;
  bool fixed;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    const Signals& steps = desk.group.channel.steps;
    const std::size_t width = 8, pes = 3;
    for (std::size_t operation = 0; operation < 2; ++operation) {
      const Window<float> rows = desk.a.at(operation * pes * width);
      const Window<float> mine = rows.at(static_cast<std::size_t>(block.pe()) * width);
      if (block.pe() != 1) {
        block.put_signal(mine, desk.b, Range{0, width}, fixed ? steps : desk.counter, 0, 1);
        block.fence(1);
      } else {
        if (fixed) block.wait_until(steps, 0, desk.group.team);
        if (!fixed) block.wait_until(desk.counter, 0, (operation + 1) * (pes - 1));
        block.transform(desk.out, Range{0, pes * width}, detail::Identity{}, rows);
      }
    }
    block.quiet();
  }
};

}  // namespace

std::vector<Program> published_reuse_programs() {
  return {
      {"ring_without_credit", "race", 2, one_launch_of<RingWithoutCredit>, {"put", "transform"}},
      {"staging_refilled", "race", 2, staging_refilled, {"put_signal", "host"}},
      {"dependents_let_go_early", "race", 1, dependents_let_go_early, {"transform vs transform"}},
      {"one_buffer_two_phases", "race", 2, one_launch_of<OneBuffer>, {"put_signal", "transform"}},
      {"flag_behind_data", "race", 2, one_launch_of<FlagBehindData>, {"put_value", "transform"}},
      {"signals_of_next_operation",
       "race",
       3,
       one_launch_of<NextOperation>,
       {"put_signal", "transform"}}};
}

}  // namespace sym::caught
