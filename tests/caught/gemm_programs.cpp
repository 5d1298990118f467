// The library's distributed GEMM with one thing taken out of its plan: a wait, a credit, a flag.
#include "backends/host/gemm.hpp"
#include "core/gemm/instances.hpp"
#include "core/gemm/run.hpp"
#include "tests/caught/caught.hpp"

namespace sym::caught {

namespace {

// What makes an operand in a real model: a kernel that writes it where it lies.
struct Fills {
  Window<float> a, b;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    for (const Window<float>& each : {a, b}) {
      block.transform(
          each, each.all(), [](float x) { return x + 1; }, each);
    }
  }
};

// Operands are made, multiplied, and made anew: all in the queue where the call begins and ends.
template <class Plant>
void one_call(FiberWorld& world, gemm::Plan plan, Plant plant) {
  plant(plan);
  gemm::Operands<float> x;
  x.a = world.allocate<float>(plan.a.capacity());
  x.b = world.allocate<float>(plan.b.capacity());
  x.d = world.allocate<float>(plan.c.capacity());
  gemm::Runner<FiberWorld, float> runner(world, std::move(plan));
  runner.prepare(x);
  world.launch(launch_of("before"), Fills{x.a, x.b});
  runner.run(x);
  world.launch(launch_of("after"), Fills{x.a, x.b});
}

gemm::Plan plan_of(const gemm::Schedule& schedule, int max_buffers = 0) {
  return gemm::derive(schedule, gemm::even_tiling({12, 9, 6}, schedule.parts),
                      {false, max_buffers});
}

void no_entry(FiberWorld& world, bool fixed) {
  one_call(world, plan_of(gemm::ag_a(3)), [=](gemm::Plan& plan) {
    if (!fixed) plan.ranks[0].stages[1].pulls[0].takes.clear();
  });
}
void no_exit(FiberWorld& world, bool fixed) {
  one_call(world, plan_of(gemm::ag_b(3)), [=](gemm::Plan& plan) {
    if (!fixed) plan.ranks[1].tiles.finished.clear();
  });
}
void no_credit(FiberWorld& world, bool fixed) {
  one_call(world, plan_of(gemm::ag_a(5), 2), [=](gemm::Plan& plan) {
    if (!fixed) plan.ranks[2].stages[3].pulls[0].after = -1;
  });
}
void addend_too_early(FiberWorld& world, bool fixed) {
  one_call(world, plan_of(gemm::rs_a(3)), [=](gemm::Plan& plan) {
    if (!fixed) plan.ranks[0].stages[1].takes.clear();
  });
}
void handover_not_announced(FiberWorld& world, bool fixed) {
  one_call(world, plan_of(gemm::rs_b(3)), [=](gemm::Plan& plan) {
    if (!fixed) plan.ranks[2].stages[0].posts.clear();
  });
}
// Cannon moves two operands: the flag of one says nothing of the other's owner.
void one_owner_of_two(FiberWorld& world, bool fixed) {
  one_call(world, plan_of(gemm::cannon(2, 2)), [=](gemm::Plan& plan) {
    for (gemm::Pull& pull : plan.ranks[3].stages[1].pulls) {
      if (!fixed && pull.which == gemm::Which::b) pull.takes.clear();
    }
  });
}

}  // namespace

std::vector<Program> gemm_programs() {
  try {
    host::require_gemm();
  } catch (const Unavailable&) {
    return {};
  }
  const std::string own = "_programs.cpp:";
  const std::string library = "core/gemm/run.hpp:";
  const Found always = Found::always;
  return {
      {"gemm_no_entry", "race", 3, no_entry, {"transform", "get"}, "", always, own},
      {"gemm_no_exit", "race", 3, no_exit, {"get", "transform"}, "", always, own},
      {"gemm_no_credit", "race", 5, no_credit, {"gemm", "get"}, "", always, library},
      {"gemm_addend_too_early", "race", 3, addend_too_early, {"gemm vs gemm"}, "", always, library},
      {"gemm_handover_not_announced",
       "deadlock",
       3,
       handover_not_announced,
       {"missing: PE 2", "queue 0"},
       "",
       always,
       library},
      {"gemm_one_owner_of_two", "race", 4, one_owner_of_two, {"transform", "get"}, "", always, own},
  };
}

}  // namespace sym::caught
