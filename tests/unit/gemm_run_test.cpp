// The executor on the checker: random plans, and plans with a planted fault.
#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "backends/check/run.hpp"
#include "tests/conformance/cases_distributed_gemm.hpp"

namespace sym::gemm {
namespace {

using conformance::Errors;
using fiber::FiberWorld;

check::CheckReport checked(int pes, const std::function<void(FiberWorld&)>& program) {
  check::CheckOptions options;
  options.pes = pes;
  return check::run_check(options, program);
}

int between(std::mt19937& random, int least, int most) {
  return std::uniform_int_distribution<int>(least, most)(random);
}

TEST(GemmRun, RandomRanksCutsAndSizesAreExact) {
  std::mt19937 random(7);
  for (int round = 0; round < 60; ++round) {
    const int pes = between(random, 1, 9);
    const std::vector<ScheduleMaker>& makers = schedules();
    const ScheduleMaker& maker = makers[to_index(between(random, 0, to_int(makers.size()) - 1))];
    const Schedule schedule = maker.make(pes, {});
    const auto cuts = [&](int parts) {
      return conformance::uneven_cuts(to_index(between(random, 1, 25)), parts,
                                      between(random, 1, 1000));
    };
    const Tiling tiling{cuts(schedule.parts.m), cuts(schedule.parts.n), cuts(schedule.parts.k)};
    const PlanOptions options{round % 2 == 1, round % 3 == 0 ? 2 : 0};
    SCOPED_TRACE("round " + std::to_string(round) + ": " + maker.name + ", " + std::to_string(pes) +
                 " ranks");
    Errors errors;
    const check::CheckReport report = checked(pes, [&](FiberWorld& world) {
      conformance::Products<float, FiberWorld> products(world, errors, schedule, tiling, options);
      products.calls(2, round % 2, true);
    });
    ASSERT_EQ(report.text(), "");
    ASSERT_EQ(errors.text(), "");
  }
}

// Three calls of a plan, with operands written as soon as a PE's own call has ended.
template <class Spoil>
std::string run_spoilt(const Schedule& schedule, const PlanOptions& options, Spoil spoil) {
  const Tiling tiling = even_tiling({24, 18, 12}, schedule.parts);
  Plan plan = derive(schedule, tiling, options);
  EXPECT_EQ(check_plan(plan), std::vector<std::string>{});
  const auto text_of_run = [&schedule](const Plan& one) {
    return checked(schedule.pes,
                   [&one](FiberWorld& world) {
                     Runner<FiberWorld, float> runner(world, one);
                     Operands<float> x;
                     x.a = world.allocate<float>(one.a.capacity());
                     x.b = world.allocate<float>(one.b.capacity());
                     x.d = world.allocate<float>(one.c.capacity());
                     runner.prepare(x);
                     for (int call = 0; call < 3; ++call) {
                       const std::vector<float> a(x.a.count, static_cast<float>(call));
                       conformance::write_all(world, x.a, a);
                       conformance::write_all(world, x.b, std::vector<float>(x.b.count, 1));
                       runner.run(x);
                       world.synchronize();
                     }
                   })
        .text();
  };
  EXPECT_EQ(text_of_run(plan), "");
  spoil(plan);
  EXPECT_NE(check_plan(plan), std::vector<std::string>{});
  return text_of_run(plan);
}

// Each of these is found by verify without running, and by the checker in the run.
TEST(GemmRun, TheCheckerFindsWhatVerifyFinds) {
  EXPECT_NE(run_spoilt(ag_a(3), {}, [](Plan& p) { p.ranks[0].stages[1].pulls[0].takes.clear(); }),
            "");
  EXPECT_NE(run_spoilt(ag_a(3), {}, [](Plan& p) { p.ranks[1].tiles.finished.clear(); }), "");
  EXPECT_NE(
      run_spoilt(ag_b(5), {false, 2}, [](Plan& p) { p.ranks[2].stages[3].pulls[0].after = -1; }),
      "");
  EXPECT_NE(run_spoilt(rs_a(3), {}, [](Plan& p) { p.ranks[0].stages[1].takes.clear(); }), "");
  EXPECT_NE(run_spoilt(rs_b(3), {}, [](Plan& p) { p.ranks[2].stages[0].posts.clear(); }), "");
  EXPECT_NE(run_spoilt(cannon(2, 2), {}, [](Plan& p) { p.ranks[3].tiles.finished.clear(); }), "");
}

}  // namespace
}  // namespace sym::gemm
