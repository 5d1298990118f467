// Collectives as one writes them at first: a barrier is missing, or orders less than one hoped.
#include "core/collective/barrier.hpp"
#include "core/collective/share.hpp"
#include "core/multicast.hpp"
#include "tests/caught/caught.hpp"

namespace sym::caught {

namespace {

constexpr Range all{0, Desk::n};

// A one-shot all-reduce that prepares its input itself.
struct OneShot {
  Desk desk;
  bool entry, exit;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    block.transform(desk.a, all, detail::Identity{}, desk.out);
    if (entry) barrier(block, desk.group);
    block.reduce(desk.b, desk.a, all, desk.group.team, Sum{});
    if (exit) barrier(block, desk.group);
  }
};

void repeat(FiberWorld& world, const Desk& desk, const OneShot& kernel) {
  write_all(world, desk.out, conformance::values<float>({1, world.pe(), world.n_pes()}, Desk::n));
  for (int launch = 0; launch < 3; ++launch) world.launch(launch_of("one_shot"), kernel);
}
void missing_entry(FiberWorld& world, bool fixed) {
  const Desk desk(world);
  repeat(world, desk, OneShot{desk, fixed, true});
}
void missing_exit(FiberWorld& world, bool fixed) {
  const Desk desk(world);
  repeat(world, desk, OneShot{desk, true, fixed});
}

// Stores to all at once: a member that has not come yet still reads what they overwrite.
struct StoreToAll {
  Desk desk;
  bool fixed;
  template <MulticastBlock B>
  SYM_FN void operator()(B& block) const {
    const Team& team = desk.group.team;
    const Range mine = chunk(all, team.rank(), team.size());
    block.transform(desk.out, all, detail::Identity{}, desk.a);
    block.sync();
    if (fixed) barrier(block, desk.group);
    block.put(multicast(desk.a, team), desk.b, mine);
    barrier(block, desk.group);
  }
};
// The result of a load that the switch combines is stored to all; nobody has waited for it.
struct UnawaitedSums {
  Desk desk;
  bool fixed;
  template <MulticastBlock B>
  SYM_FN void operator()(B& block) const {
    const Team& team = desk.group.team;
    const Range mine = chunk(all, team.rank(), team.size());
    barrier(block, desk.group);
    block.reduce(multicast(desk.a, team), multicast(desk.b, team), mine, Sum{});
    if (fixed) block.quiet();
    block.transform(desk.out, mine, detail::Identity{}, desk.a);
    barrier(block, desk.group);
  }
};

// Blocks of equal index meet; then block b reads what another block of the peer has written.
// Repaired, it reads the part of its own index.
struct OtherBlock {
  Desk desk;
  bool fixed;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    const Range own = chunk(all, block.index(), block.count());
    const Range other = chunk(all, (block.index() + 1) % block.count(), block.count());
    block.transform(desk.a, own, detail::Identity{}, desk.out);
    barrier(block, desk.group);
    block.reduce(desk.b, desk.a, fixed ? own : other, desk.group.team, Sum{});
    barrier(block, desk.group);
  }
};

// The same among blocks of one PE: block 1 reads what block 0 writes.
struct OwnOtherBlock {
  Desk desk;
  bool fixed;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    const Range own = chunk(all, block.index(), block.count());
    const Range other = chunk(all, (block.index() + 1) % block.count(), block.count());
    block.transform(desk.a, own, detail::Identity{}, desk.out);
    barrier(block, desk.group);
    block.transform(desk.b, fixed ? own : other, detail::Identity{}, desk.a);
    barrier(block, desk.group);
  }
};

template <class Kernel>
void two_blocks(FiberWorld& world, bool fixed) {
  const Desk desk(world, 2);
  world.launch(launch_of("blocks", 2), Kernel{desk, fixed});
}

// The host rewrites the input while peers may still read it: it waits for its own launch, which
// (without an exit barrier) says nothing of theirs.
void host_rewrites(FiberWorld& world, bool fixed) {
  const Desk desk(world);
  const OneShot kernel{desk, true, fixed};
  world.launch(launch_of("one_shot"), kernel);
  write_all(world, desk.a, conformance::values<float>({2, world.pe(), world.n_pes()}, Desk::n));
}

}  // namespace

std::vector<Program> barrier_programs() {
  return {{"missing_entry_barrier",
           "race",
           3,
           missing_entry,
           {"transform", "reduce", "a barrier or a signal is missing"}},
          {"missing_exit_barrier",
           "race",
           3,
           missing_exit,
           {"transform", "reduce", "a barrier or a signal is missing"}},
          {"host_rewrites_input", "race", 2, host_rewrites, {"host", "reduce"}},
          {"barrier_for_other_blocks", "race", 2, two_blocks<OtherBlock>, {"transform", "reduce"}},
          {"barrier_for_own_other_block",
           "race",
           2,
           two_blocks<OwnOtherBlock>,
           {"different blocks of one PE"}},
          {"store_to_all_too_early",
           "race",
           3,
           one_launch_of<StoreToAll>,
           {"transform", "multicast_put"}},
          {"stored_to_all_and_not_awaited",
           "race",
           3,
           one_launch_of<UnawaitedSums>,
           {"transform", "multicast_all_reduce"}}};
}

}  // namespace sym::caught
