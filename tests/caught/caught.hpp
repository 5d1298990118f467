// Caught: kernels as users write them, each with a planted bug, and the same with the bug repaired.
//
// A kernel has a member `fixed`; a program launches it on every PE. programs() is the table: what
// kind of finding the checker must make of each.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "backends/check/run.hpp"
#include "tests/conformance/harness.hpp"

namespace sym::caught {

using conformance::counters;
using conformance::launch_of;
using conformance::read_all;
using conformance::write_all;
using fiber::FiberWorld;

// Which schedules must find it: every one (the detector decides by happens-before, whatever order
// the run took), or at least `worst` (the finding needs the order that only an adversary makes).
enum class Found { always, by_worst };

struct Program {
  std::string name;
  std::string kind;  // of the first finding
  int pes;
  std::function<void(FiberWorld&, bool fixed)> run;
  std::vector<std::string> says = {};  // all of it in the text
  std::string hint = "";  // what to do about it: in the text of the deterministic schedules
  Found found = Found::always;
  std::string where = "_programs.cpp:";  // the file whose line the text shows
  int resident_blocks = 0;               // CheckOptions::resident_blocks
  friend void PrintTo(const Program& program, std::ostream* out) { *out << program.name; }
};

std::vector<Program> ordering_programs();  // transfers, fences, syncs
std::vector<Program> round_programs();     // rounds that overtake each other
std::vector<Program> barrier_programs();   // collectives without one of their barriers
std::vector<Program> waiting_programs();   // deadlocks
std::vector<Program> launch_programs();    // launches without an order, places
std::vector<Program> memory_programs();    // out of bounds, use after free
std::vector<Program> overlap_programs();   // source and destination of one verb
std::vector<Program> refusal_programs();   // refusals that a kernel catches, what is left open
std::vector<Program> packet_programs();    // inboxes that others touch
std::vector<Program> gemm_programs();      // the library's GEMM with a hole in its plan
std::vector<Program> moe_programs();       // data-dependent exchange
std::vector<Program> queue_programs();     // copies, products and flags on queues
// Public bug reports of other projects, each as a kernel: catalogue.md has the table.
std::vector<Program> published_ordering_programs();  // edges that are missing or too weak
std::vector<Program> published_epoch_programs();     // epochs, slots, resets
std::vector<Program> published_reuse_programs();     // buffers that are used again too early
std::vector<Program> published_misuse_programs();    // mismatch, scheduling, lifetime

inline std::vector<Program> programs() {
  std::vector<Program> all;
  for (const auto& some :
       {ordering_programs(), round_programs(), barrier_programs(), waiting_programs(),
        launch_programs(), memory_programs(), overlap_programs(), refusal_programs(),
        packet_programs(), moe_programs(), queue_programs(), gemm_programs(),
        published_ordering_programs(), published_epoch_programs(), published_reuse_programs(),
        published_misuse_programs()}) {
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

// A world with all that these programs need: two windows of n floats, local memory, a channel.
struct Desk {
  static constexpr std::size_t n = 96;
  Group group;
  Window<float> a, b;
  Local<float> out;
  Signals counter;
  Window<std::uint64_t> words;  // numbers that a kernel keeps by itself
  explicit Desk(FiberWorld& world, int blocks = 1)
      : group{world.channel({blocks}), world.team()},
        a(world.allocate<float>(n)),
        b(world.allocate<float>(n)),
        out(world.local<float>(n)),
        counter(counters(world, 2)),
        words(world.allocate_control<std::uint64_t>(2)) {}
};

// One launch of a kernel that is made of {desk, fixed}, on data that is there on every PE.
template <class Kernel, int blocks = 1>
void one_launch_of(FiberWorld& world, bool fixed) {
  const Desk desk(world, blocks);
  write_all(world, desk.b, conformance::values<float>({1, world.pe(), 1}, Desk::n));
  world.barrier();
  world.launch(launch_of("planted", blocks), Kernel{desk, fixed});
}

}  // namespace sym::caught
