// Schedules and plans with a planted fault: verify must name it.
#include <gtest/gtest.h>

#include "core/error.hpp"
#include "core/gemm/instances.hpp"
#include "core/gemm/verify.hpp"

namespace sym::gemm {
namespace {

Tiling even(const Schedule& schedule) { return even_tiling({24, 18, 12}, schedule.parts); }

std::string found(const std::vector<std::string>& sentences) {
  std::string text;
  for (const std::string& one : sentences) text += one + "\n";
  return text;
}
std::string faults(const Schedule& schedule) { return found(verify(schedule, even(schedule))); }
bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(GemmFaults, TileNamedTwiceAndTileMissed) {
  Schedule s = ag_a(3);
  s.tile = [](int d, int t) { return Tile{t == 2 ? d : (d + t) % 3, d, 0}; };
  EXPECT_TRUE(has(faults(s), "rank 0, step 2 works on tile (0, 0, 0), as rank 0, step 0 does"))
      << faults(s);
  EXPECT_TRUE(has(faults(s), "nobody works on tile (0, 1, 0)")) << faults(s);
  EXPECT_THROW(derive(s, even(s)), Failure);
}

TEST(GemmFaults, TileThatIsNotThere) {
  Schedule s = ag_a(3);
  s.tile = [](int d, int t) { return Tile{d + t, d, 0}; };
  EXPECT_TRUE(has(faults(s), "works on tile (3, 1, 0); there are (3, 3, 1) parts")) << faults(s);
}

TEST(GemmFaults, TwoRanksAddToOneTileAtOneStep) {
  Schedule s = rs_a(3);
  s.tile = [](int d, int t) { return Tile{t, 0, d}; };
  EXPECT_TRUE(has(faults(s), "ranks 0 and 1 both add to tile (0, 0) of C at step 0")) << faults(s);
}

TEST(GemmFaults, OwnerThatIsNotThere) {
  Schedule s = ag_a(3);
  s.owner_a = [](int m, int) { return m + 1; };
  EXPECT_TRUE(has(faults(s), "tile (2, 0) of A belongs to rank 3; there are 3")) << faults(s);
}

TEST(GemmFaults, TilesThatMakeNoMatrix) {
  Schedule s = cannon(2, 2);
  s.owner_a = [](int i, int k) { return i == 0 && k == 0 ? 3 : i * 2 + k; };
  EXPECT_TRUE(has(faults(s), "tiles of A of rank 3 are not all pairs")) << faults(s);
}

TEST(GemmFaults, VolumeOtherThanTheClosedForm) {
  Schedule s = ag_a(4);
  s.owner_a = [](int, int) { return 0; };
  EXPECT_TRUE(has(faults(s), "the schedule's closed form says")) << faults(s);
}

// The rest plants faults in a derived plan.
Plan plan_of(const Schedule& s, const PlanOptions& options = {}) {
  return derive(s, even(s), options);
}

TEST(GemmFaults, CopyThatDoesNotWaitForTheOwner) {
  Plan plan = plan_of(ag_a(3));
  plan.ranks[0].stages[1].pulls[0].takes.clear();
  const std::string text = found(check_plan(plan));
  EXPECT_TRUE(has(text, "A (1, 0) of rank 1: reads it before it is written") ||
              has(text, "A (1, 0) of rank 1: reads what nobody wrote"))
      << text;
}

TEST(GemmFaults, OperandsOverwrittenWhileTheyAreCopied) {
  Plan plan = plan_of(ag_a(3));
  plan.ranks[1].tiles.finished.clear();
  const std::string text = found(check_plan(plan));
  EXPECT_TRUE(has(text, "of rank 1: overwrites it before its last reader is done") ||
              has(text, "sets flag"))
      << text;
}

TEST(GemmFaults, BufferRewrittenBeforeItsProduct) {
  Plan plan = plan_of(ag_a(5), {false, 2});
  plan.ranks[2].stages[3].pulls[0].after = -1;
  const std::string text = found(check_plan(plan));
  EXPECT_TRUE(has(text, "A buffer 0 of rank 2: overwrites it before its last reader is done") ||
              has(text, "A buffer 0 of rank 2: reads it before it is written"))
      << text;
}

TEST(GemmFaults, PartialSumReadBeforeItIsAnnounced) {
  Plan plan = plan_of(rs_a(3));
  plan.ranks[0].stages[1].takes.clear();
  const std::string text = found(check_plan(plan));
  EXPECT_TRUE(has(text, "partial sum 1 of rank 2: reads it before it is written") ||
              has(text, "partial sum 1 of rank 2: reads what nobody wrote"))
      << text;
}

TEST(GemmFaults, WaitThatNothingFulfils) {
  Plan plan = plan_of(rs_a(3));
  plan.ranks[2].stages[0].posts.clear();
  const std::string text = found(check_plan(plan));
  EXPECT_TRUE(has(text, "rank 0, waiting for flag 5 of rank 2: waits for ever before step 1"))
      << text;
}

TEST(GemmFaults, BiasTwiceAndCTwice) {
  Plan plan = plan_of(rs_a(3));
  plan.ranks[0].stages[0].complete = true;
  EXPECT_TRUE(has(found(check_plan(plan)), "the bias 2 times")) << found(check_plan(plan));
  plan = plan_of(cannon(2, 2));
  plan.ranks[1].stages[1].addend = Addend::user;
  EXPECT_TRUE(has(found(check_plan(plan)), "1 of 2 products")) << found(check_plan(plan));
}

TEST(GemmFaults, WrongBuffer) {
  Plan plan = plan_of(ag_a(4));
  plan.ranks[3].stages[2].buffer_a = 0;
  EXPECT_TRUE(has(found(check_plan(plan)), "finds another tile than (1, 0) of A of this call"))
      << found(check_plan(plan));
}

// Each rank's program begins with what needs the other's second product.
TEST(GemmFaults, QueuesThatWaitForEachOther) {
  Plan plan = plan_of(rs_a(2));
  std::swap(plan.ranks[0].stages[0], plan.ranks[0].stages[1]);
  std::swap(plan.ranks[1].stages[0], plan.ranks[1].stages[1]);
  const std::string text = found(check_plan(plan));
  EXPECT_TRUE(has(text, "rank 0, waiting for flag 4 of rank 1: waits for ever before step 1"))
      << text;
  EXPECT_TRUE(has(text, "rank 1, waiting for flag 4 of rank 0: waits for ever before step 1"))
      << text;
}

}  // namespace
}  // namespace sym::gemm
