// What users of the checker lean on: findings as failed expectations, and check_main.
#include <gmock/gmock.h>
#include <gtest/gtest-spi.h>

#include "backends/check/gtest.hpp"
#include "core/collective/barrier.hpp"
#include "core/collective/share.hpp"

namespace sym::check {
namespace {

using fiber::FiberWorld;
using testing::HasSubstr;

// Each PE sends a row to the other. What is left out, PE 0 alone leaves out: one finding.
struct Row {
  Group group;
  Window<float> from, to;
  bool fenced, signals;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    const int peer = 1 - block.pe();
    block.put(to, from, from.all(), peer);
    if (fenced || peer == 0) block.fence(peer);
    if (signals || peer == 0) block.signal(group.channel.steps, 0, peer);
    block.wait_until(group.channel.steps, 0, group.team);
    block.sum(to, to.all(), detail::Identity{});
    block.quiet();
  }
};

void exchange(FiberWorld& world, bool fenced, bool signals = true) {
  const Group group{world.channel({1}), world.team()};
  const auto from = world.allocate<float>(2);  // too short to arrive in parts
  const auto to = world.allocate<float>(2);
  world.launch({.name = "row"}, Row{group, from, to, fenced, signals});
}
void right(FiberWorld& world) { exchange(world, true); }
void races(FiberWorld& world) { exchange(world, false); }
void hangs(FiberWorld& world) { exchange(world, true, false); }
void throws(FiberWorld& world) { world.allocate<float>(world.pe() == 0 ? 8 : 9); }

TEST(ExpectClean, IsSilentAboutWhatIsRight) {
  EXPECT_CLEAN(right, CheckOptions{});
  EXPECT_CLEAN_EVERYWHERE(right, CheckOptions{}, 3);
}

TEST(ExpectClean, FailsForARaceADeadlockAndAnException) {
  EXPECT_NONFATAL_FAILURE(EXPECT_CLEAN(races, CheckOptions{}), "RACE  sum vs put");
  EXPECT_NONFATAL_FAILURE(EXPECT_CLEAN(hangs, CheckOptions{}), "DEADLOCK");
  EXPECT_NONFATAL_FAILURE(EXPECT_CLEAN(throws, CheckOptions{}), "PEs disagree");
  EXPECT_NONFATAL_FAILURE(EXPECT_CLEAN_EVERYWHERE(races, CheckOptions{}, 3),
                          "under worst, seed 1, 2 PEs");
}

// Data that is wrong because of a race: both are told, the race first, and not that the other PE
// waits.
void wrong_by_a_race(FiberWorld& world) {
  exchange(world, false);
  world.synchronize();
  if (world.pe() == 1) throw Failure("wrong row");
  world.barrier();
}
TEST(CheckProgram, ToldBesideWhatWasThrown) {
  const CheckReport report = check_program(CheckOptions{}, wrong_by_a_race);
  ASSERT_EQ(report.findings.size(), 2U) << report.text();
  EXPECT_EQ(report.findings[0].kind, "race");
  EXPECT_EQ(report.findings[1].text, "EXCEPTION on PE 1: wrong row");
}

// What all PEs throw is told once.
TEST(CheckProgram, TellsOnceWhatSeveralHaveThrown) {
  CheckOptions options;
  options.pes = 3;
  for (const char* schedule : {"worst", "exhaustive"}) {
    options.schedule = schedule;
    const CheckReport report = check_program(options, [](FiberWorld& world) {
      if (world.pe() != 1) throw Failure("two of three");
      throw Failure("the third");
    });
    ASSERT_EQ(report.findings.size(), 2U) << report.text();
    EXPECT_THAT(report.text(), HasSubstr("EXCEPTION on PEs 0, 2: two of three"));
    EXPECT_THAT(report.text(), HasSubstr("EXCEPTION on PE 1: the third"));
    const CheckReport all = check_program(options, [](FiberWorld&) { throw Failure("bad size"); });
    EXPECT_EQ(all.text(), "EXCEPTION on all 3 PEs: bad size\n");
  }
}

TEST(ExpectClean, EachFindingFailsAtItsOwnLine) {
  CheckReport report;
  fiber::Place nowhere, place;
  place.site = {"kernel.hpp", 29};
  report.findings.push_back({"race", "first", "", "", "", {nowhere, place}});
  report.findings.push_back({"deadlock", "second"});
  report.incomplete = true;
  testing::TestPartResultArray results;
  {
    const testing::ScopedFakeTestPartResultReporter intercepted(
        testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &results);
    EXPECT_FALSE(expect_clean(report, "under worst", Site{"my_test.cpp", 7}));
  }
  ASSERT_EQ(results.size(), 3);
  EXPECT_STREQ(results.GetTestPartResult(0).file_name(), "kernel.hpp");
  EXPECT_EQ(results.GetTestPartResult(0).line_number(), 29);
  EXPECT_STREQ(results.GetTestPartResult(1).file_name(), "my_test.cpp");
  EXPECT_EQ(results.GetTestPartResult(1).line_number(), 7);
  EXPECT_THAT(results.GetTestPartResult(2).message(), HasSubstr("incomplete"));
}

struct Said {
  int status;
  std::string out, err;
};
Said main_of(std::vector<std::string> arguments, const Program& program) {
  std::vector<char*> argv{const_cast<char*>("mine")};
  for (std::string& one : arguments) argv.push_back(one.data());
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const int status = check_main(static_cast<int>(argv.size()), argv.data(), program);
  std::string out = testing::internal::GetCapturedStdout();
  return {status, out, testing::internal::GetCapturedStderr()};
}

TEST(CheckMain, RunsEveryWorldAndScheduleThatIsNamed) {
  const Said said = main_of({"--pes", "2", "--schedule", "worst,random", "--runs", "4"}, right);
  EXPECT_EQ(said.status, 0) << said.out << said.err;
  EXPECT_THAT(said.out, HasSubstr("clean      2 PEs  worst      1 run"));
  EXPECT_THAT(said.out, HasSubstr("clean      2 PEs  random     4 runs"));
}

TEST(CheckMain, SaysWhatRepeatsAFindingAndSaysItOnce) {
  const Said said = main_of({"--schedule", "random", "--seed", "5", "--runs", "9"}, hangs);
  EXPECT_EQ(said.status, 1);
  EXPECT_THAT(said.out, HasSubstr("again  mine --pes 2 --schedule random --seed 5"));
  EXPECT_THAT(said.out, HasSubstr("and 8 repetitions of these findings"));
  EXPECT_EQ(main_of({}, throws).status, 1);
}

TEST(CheckMain, SaysWhatPctPromises) {
  const Said said = main_of({"--schedule", "pct", "--runs", "3", "--depth", "1"}, right);
  EXPECT_EQ(said.status, 0) << said.out;
  EXPECT_THAT(said.out,
              HasSubstr("a bug of depth 1, if there is one, is found with probability 0."));
}

TEST(CheckMain, ABudgetsEndIsNoSuccess) {
  const Said said = main_of({"--budget", "5"}, right);
  EXPECT_EQ(said.status, 1);
  EXPECT_THAT(said.out, HasSubstr("INCOMPLETE 2 PEs"));
  EXPECT_NONFATAL_FAILURE(EXPECT_CLEAN(right, CheckOptions{.most_steps = 5}), "incomplete");
}

TEST(CheckMain, RefusesWhatItDoesNotKnow) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> bad{
      {{"--pse", "2"}, "unknown argument '--pse'; the nearest is '--pes'"},
      {{"--pes", "0"}, "--pes 0: a number from 1 to 4096 is wanted"},
      {{"--pes", "2x"}, "--pes 2x"},
      {{"--pes"}, "--pes needs a value"},
      {{"--schedule", "wurst"}, "unknown schedule 'wurst'; the nearest is 'worst'"}};
  for (const auto& [arguments, sentence] : bad) {
    const Said said = main_of(arguments, right);
    EXPECT_EQ(said.status, 2);
    EXPECT_THAT(said.err, HasSubstr(sentence));
  }
}

}  // namespace
}  // namespace sym::check
