// Schedules, plans and their proofs.
#include <gtest/gtest.h>

#include <random>

#include "core/error.hpp"
#include "core/gemm/buffers.hpp"
#include "core/gemm/instances.hpp"
#include "core/gemm/verify.hpp"

namespace sym::gemm {
namespace {

std::string all_of(const std::vector<std::string>& sentences) {
  std::string text;
  for (const std::string& one : sentences) text += one + "\n";
  return text;
}

// Cut points anywhere, so that parts may be empty.
Cuts random_cuts(std::mt19937& random, std::size_t extent, int parts) {
  Cuts cuts;
  cuts.at = {0, extent};
  std::uniform_int_distribution<std::size_t> anywhere(0, extent);
  for (int i = 1; i < parts; ++i) cuts.at.push_back(anywhere(random));
  std::sort(cuts.at.begin(), cuts.at.end());
  return cuts;
}

Tiling random_tiling(std::mt19937& random, const Parts& parts) {
  std::uniform_int_distribution<std::size_t> extent(1, 40);
  return Tiling{random_cuts(random, extent(random), parts.m),
                random_cuts(random, extent(random), parts.n),
                random_cuts(random, extent(random), parts.k)};
}

double megabytes_received(const Schedule& schedule, const Extent& extent, int rank) {
  const Plan plan = derive(schedule, even_tiling(extent, schedule.parts));
  return static_cast<double>(received(plan, rank).all()) * 2 / 1e6;
}

TEST(GemmPlan, EverySchedulesPlanIsRightForAnyNumberOfRanks) {
  for (int pes = 1; pes <= 9; ++pes) {
    for (const ScheduleMaker& maker : schedules()) {
      for (const Extent& extent : {Extent{129, 61, 83}, Extent{5, 3, 2}, Extent{1, 1, 1}}) {
        for (const PlanOptions& options :
             {PlanOptions{}, PlanOptions{true, 0}, PlanOptions{true, 2}}) {
          const Schedule schedule = maker.make(pes, {});
          SCOPED_TRACE(maker.name + ", " + std::to_string(pes) + " ranks");
          ASSERT_EQ(all_of(verify(schedule, even_tiling(extent, schedule.parts), options)), "");
        }
      }
    }
  }
}

TEST(GemmPlan, RandomCutsAreRightToo) {
  std::mt19937 random(1);
  for (int round = 0; round < 400; ++round) {
    const int pes = std::uniform_int_distribution<int>(1, 9)(random);
    const ScheduleMaker& maker =
        schedules()[std::uniform_int_distribution<std::size_t>(0, schedules().size() - 1)(random)];
    const Schedule schedule = maker.make(pes, {});
    const Tiling tiling = random_tiling(random, schedule.parts);
    const PlanOptions options{round % 2 == 1, round % 3 == 0 ? 2 : 0};
    SCOPED_TRACE("round " + std::to_string(round) + ": " + maker.name + ", " + std::to_string(pes) +
                 " ranks");
    ASSERT_EQ(all_of(verify(schedule, tiling, options)), "");
    const Plan plan = derive(schedule, tiling, options);
    for (int rank = 0; rank < pes; ++rank)
      ASSERT_EQ(received(plan, rank), schedule.received(tiling, rank)) << "rank " << rank;
  }
}

// Bytes received per rank in bf16 on 8 ranks, as tabulated by hand for five shapes, in MB.
TEST(GemmPlan, VolumesOfWellKnownShapes) {
  struct Row {
    Extent extent;
    double ag_a, ag_b, rs, grid;
  };
  const Row rows[] = {{{16384, 106496, 16384}, 470, 3053, 3053, 638},
                      {{16384, 16384, 16384}, 470, 470, 470, 268},
                      {{16384, 16384, 53248}, 1527, 1527, 470, 872},
                      {{8192, 8192, 28672}, 411, 411, 117, 235},
                      {{65536, 8192, 8192}, 940, 117, 940, 419}};
  for (const Row& row : rows) {
    for (int rank = 0; rank < 8; ++rank) {
      EXPECT_NEAR(megabytes_received(ag_a(8), row.extent, rank), row.ag_a, 0.5);
      EXPECT_NEAR(megabytes_received(ag_b(8), row.extent, rank), row.ag_b, 0.5);
      EXPECT_NEAR(megabytes_received(rs_a(8), row.extent, rank), row.rs, 0.5);
      EXPECT_NEAR(megabytes_received(rs_b(8), row.extent, rank), row.rs, 0.5);
      EXPECT_NEAR(megabytes_received(cannon(2, 4), row.extent, rank), row.grid, 0.5);
    }
  }
}

TEST(GemmPlan, StartsAtOnceAndReadsEachRankOnceAStep) {
  for (int rows = 1; rows <= 6; ++rows) {
    for (int cols = 1; cols <= 6; ++cols) {
      const Schedule schedule = cannon(rows, cols);
      const Plan plan = derive(schedule, even_tiling({72, 72, 72}, schedule.parts));
      EXPECT_TRUE(properties(plan).local_start) << rows << "x" << cols;
      EXPECT_TRUE(properties(plan).one_reader) << rows << "x" << cols;
    }
  }
  for (const ScheduleMaker& maker : schedules()) {
    const Schedule schedule = maker.make(7, {});
    const Properties good = properties(derive(schedule, even_tiling({72, 72, 72}, schedule.parts)));
    EXPECT_TRUE(good.local_start && good.one_reader) << maker.name;
  }
}

TEST(GemmPlan, TransferMatrixAddsUpToTheVolumes) {
  const Schedule schedule = cannon(2, 3);
  const Plan plan = derive(schedule, even_tiling({50, 40, 31}, schedule.parts));
  const Table<std::size_t> all = transfer_matrix(plan);
  std::vector<std::size_t> steps(6);
  for (int to = 0; to < 6; ++to) {
    std::size_t sum = 0;
    for (int from = 0; from < 6; ++from) {
      sum += all(from, to);
      for (int step = 0; step < schedule.steps; ++step)
        steps[to_index(to)] += transfer_matrix(plan, step)(from, to);
    }
    EXPECT_EQ(all(to, to), 0U);
    EXPECT_EQ(sum, received(plan, to).all());
    EXPECT_EQ(steps[to_index(to)], sum);
  }
}

TEST(GemmPlan, SquarestGrid) {
  for (const auto& [pes, rows] :
       {std::pair(1, 1), {4, 2}, {6, 2}, {7, 1}, {8, 2}, {9, 3}, {12, 3}}) {
    EXPECT_EQ(squarest(pes).rows, rows);
    EXPECT_EQ(squarest(pes).cols, pes / rows);
  }
}

// --- what is refused -----------------------------------------------------------------------------

template <class F>
std::string refusal(F f) {
  try {
    f();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(GemmPlan, BadInputIsRefusedInOneSentence) {
  const auto has = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_TRUE(has(refusal([] { find_schedule("canon"); }), "'cannon'"));
  EXPECT_TRUE(has(refusal([] { find_schedule("cannon").make(8, {3, 2}); }), "must be 8"));
  EXPECT_TRUE(has(refusal([] { find_schedule("ag_a").make(8, {2, 4}); }), "takes no grid"));
  EXPECT_TRUE(has(refusal([] { even_tiling({0, 1, 1}, {1, 1, 1}); }), "m is 0"));
  EXPECT_TRUE(has(refusal([] { even_tiling({1, 1, 0}, {1, 1, 1}); }), "k is 0"));
  const Tiling tiling = even_tiling({4, 4, 4}, {2, 2, 1});
  EXPECT_TRUE(has(refusal([&] { derive(ag_a(3), tiling); }), "the schedule has 3"));
  EXPECT_TRUE(has(refusal([&] { derive(ag_a(2), tiling, {false, 1}); }), "at least 2 buffers"));
  Tiling bad = tiling;
  bad.m.at = {0, 3, 2};
  EXPECT_TRUE(has(refusal([&] { derive(ag_a(2), bad); }), "not descend"));
}

}  // namespace
}  // namespace sym::gemm
