// A first distributed GEMM, with a schedule of its own, on threads.
#include <cstdio>
#include <vector>

#include "backends/thread/world.hpp"
#include "core/gemm/run.hpp"
#include "core/gemm/verify.hpp"

int main() {
  using namespace sym::gemm;
  // ag_a the other way round: a schedule is a name, the parts of m, n and k, the steps, one
  // function.
  const int pes = 3;
  Schedule schedule{"backwards", pes, "1x3x1", {pes, pes, 1}, pes, {}, {}, {}, {}, {}};
  schedule.tile = [](int d, int t) { return Tile{(d + pes - t) % pes, d, 0}; };
  const Plan plan = derive(schedule, even_tiling({30, 20, 10}, schedule.parts));
  for (const std::string& fault : check_plan(plan)) std::printf("%s\n", fault.c_str());  // nothing
  sym::thread::run_threads({.pes = pes}, [&](sym::thread::ThreadWorld& world) {
    Runner<sym::thread::ThreadWorld, float> gemm(world, plan);  // collective
    Operands<float> x;
    x.a = world.allocate<float>(plan.a.capacity());  // collective; row-major tiles of this rank
    x.b = world.allocate<float>(plan.b.capacity());
    x.d = world.allocate<float>(plan.c.capacity());  // D lies as C does
    gemm.prepare(x);                                 // collective; writes D
    const auto ones = [](std::size_t, std::size_t) { return 1.0F; };
    const std::vector<float> a = held_values<float>(plan.a, world.pe(), ones);
    const std::vector<float> b = held_values<float>(plan.b, world.pe(), ones);
    world.write(x.a, a.data(), a.size());
    world.write(x.b, b.data(), b.size());
    gemm.run(x);
    world.synchronize();
    float first = 0;
    world.read(&first, x.d, 1);
    std::printf("PE %d: D[0] is %g\n", world.pe(), first);  // k
  });
}
