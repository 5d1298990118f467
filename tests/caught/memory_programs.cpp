// Places that are not there.
#include "core/collective/barrier.hpp"
#include "tests/caught/caught.hpp"

namespace sym::caught {

namespace {

struct PutTooFar {
  Desk desk;
  bool fixed;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    const std::size_t n = Desk::n / 2 + (fixed ? 0 : 1);
    if (block.pe() == 0) block.put(desk.a.at(Desk::n / 2), desk.b, Range{0, n}, 1);
    barrier(block, desk.group);
  }
};

struct ToNobody {
  Desk desk;
  bool fixed;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    block.put(desk.a, desk.b, Range{0, 8},
              fixed ? (block.pe() + 1) % block.n_pes() : block.pe() + 1);
    barrier(block, desk.group);
  }
};

struct SlotTooFar {
  Desk desk;
  bool fixed;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    block.signal(desk.counter, fixed ? 1 : 2, 0);
  }
};

struct LocalTooFar {
  Desk desk;
  bool fixed;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    block.get(desk.out, desk.a, Range{fixed ? 0U : 1U, Desk::n}, 0);
    block.quiet();
  }
};

struct Puts {
  Group group;
  Window<float> dst, src;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    block.put(dst, src, Range{0, Desk::n}, group.team.pe(group.team.next()));
    barrier(block, group);
  }
};

template <class Kernel>
void one_launch(FiberWorld& world, bool fixed) {
  const Desk desk(world);
  world.launch(launch_of("reaches"), Kernel{desk, fixed});
}

void use_after_free(FiberWorld& world, bool fixed) {
  const Desk desk(world);
  if (!fixed) world.free(desk.a);
  world.launch(launch_of("late"), Puts{desk.group, desk.a, desk.b});
  world.synchronize();
  if (fixed) world.free(desk.a);
}

}  // namespace

std::vector<Program> memory_programs() {
  return {
      {"out_of_bounds_put",
       "error",
       2,
       one_launch<PutTooFar>,
       {"out of bounds", "[192, 388)", "384 bytes on PE 1"}},
      {"no_such_pe", "error", 2, one_launch<ToNobody>, {"out of bounds: PE 2 of 2"}},
      {"out_of_bounds_slot", "error", 2, one_launch<SlotTooFar>, {"signal slot 2 of a table of 2"}},
      {"out_of_bounds_local", "error", 2, one_launch<LocalTooFar>, {"out of bounds", "local"}},
      {"use_after_free", "error", 2, use_after_free, {"use after free", "put"}}};
}

}  // namespace sym::caught
