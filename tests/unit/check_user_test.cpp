// What users of the checker lean on: findings as failed expectations, and check_main.
#include <gmock/gmock.h>
#include <gtest/gtest-spi.h>

#include <filesystem>
#include <fstream>

#include "backends/check/gtest.hpp"
#include "backends/fiber/fault.hpp"
#include "backends/report/findings.hpp"
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
  EXPECT_NONFATAL_FAILURE(EXPECT_CLEAN(throws, CheckOptions{}),
                          "elements of 4 bytes at tests/unit/check_user_test.cpp:");
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
  // The last call of its World says where the host program was.
  EXPECT_EQ(report.findings[1].text,
            "EXCEPTION on PE 1: wrong row\n  last   PE 1 host  World::synchronize at "
            "tests/unit/check_user_test.cpp:67");
}

// pct runs the program once more before, to learn how long it is: what is thrown there is of no
// report, whose decisions are those of the run behind it.
TEST(CheckProgram, TellsWhatTheReportedRunHasThrown) {
  CheckOptions options;
  options.schedule = "pct";
  int runs = 0;
  const CheckReport report = check_program(options, [&runs](FiberWorld& world) {
    if (world.pe() == 0) throw Failure("run " + std::to_string(++runs));
  });
  EXPECT_EQ(report.text(), "EXCEPTION on PE 0: run 2\n");
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
  std::filesystem::current_path(testing::TempDir());  // replay files go here
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
  EXPECT_THAT(said.out, HasSubstr("seen in 9 of 9 runs, first at seed 5"));
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
      {{"--pes", ""}, "--pes: its value is empty"},
      {{"--pes="}, "--pes: its value is empty"},
      {{"--pes", "2,"}, "--pes (empty)"},
      {{"--schedule", ""}, "--schedule: its value is empty"},
      {{"--schedule", ","}, "unknown schedule ''"},
      {{"--seed", "-1", "--schedule", "random"}, "--seed -1"},
      {{"--seed", "2"}, "--seed goes with --schedule random or pct"},
      {{"--runs", "2", "--schedule", "fifo"}, "--runs goes with --schedule random or pct"},
      {{"--depth", "3"}, "--depth goes with --schedule pct"},
      {{"--bound", "1", "--schedule", "worst,pct"}, "--bound goes with --schedule exhaustive"},
      {{"--knobs", "split", "--schedule", "fifo"}, "--knobs goes with --schedule worst or"},
      {{"--knobs", "none,split"}, "knob 'none' stands alone"},
      {{"--knobs", "splits"}, "the nearest is 'split'"},
      {{"--budget", "1Q"}, "--budget 1Q"},
      {{"--time-limit", "nan"}, "--time-limit nan"},
      {{"--time-limit", "inf"}, "--time-limit inf"},
      {{"--coverage=1"}, "--coverage takes no value"},
      {{"--sarif", "no/such/folder"}, "cannot write no/such/folder"},
      {{"--suppress", "."}, "cannot read ."},
      {{"--findings", "one.txt", "--sarif", "one.txt"}, "one.txt cannot hold both"},
      {{"replay"}, "one file is wanted"},
      {{"replay", "a", "b"}, "'b' is not expected"},
      {{"replay", "a", "--out", "b"}, "--out goes with --shrink"},
      {{"replay", "a", "--shrink", "--out"}, "'--out' is not expected"},
      {{"replay", "no-such-file"}, "cannot read no-such-file"},
      {{"--schedule", "wurst"}, "unknown schedule 'wurst'; the nearest is 'worst'"}};
  for (const auto& [arguments, sentence] : bad) {
    const Said said = main_of(arguments, right);
    EXPECT_EQ(said.status, 2);
    EXPECT_THAT(said.err, HasSubstr(sentence));
  }
}

TEST(CheckMain, TakesValuesBehindAnEqualsSign) {
  const Said said = main_of({"--pes=2", "--schedule=fifo,worst", "--budget=1K"}, right);
  EXPECT_EQ(said.status, 0) << said.out << said.err;
  EXPECT_THAT(said.out, HasSubstr("clean      2 PEs  fifo"));
  EXPECT_EQ(main_of({"--budget", "0"}, right).status, 0);  // the default
  EXPECT_EQ(main_of({"--time-limit", "0", "--knobs", "none"}, right).status, 0);
}

TEST(CheckMain, ARunOfNothingIsNoSuccess) {
  const Said said = main_of({}, [](FiberWorld&) {});
  EXPECT_EQ(said.status, 1);
  EXPECT_THAT(said.out, HasSubstr("NOTHING was checked"));
}

// One world in which there is nothing to do is right, and is not called clean.
TEST(CheckMain, AWorldWithoutAVerbIsNamed) {
  const Said said = main_of({"--pes", "1,2"}, [](FiberWorld& world) {
    if (world.team().size() > 1) right(world);
  });
  EXPECT_EQ(said.status, 0) << said.out;
  EXPECT_THAT(said.out, HasSubstr("nothing    1 PEs  worst"));
  EXPECT_THAT(said.out, HasSubstr("clean      2 PEs  worst"));
}

// Ten seconds each: the other seeds would say the same.
TEST(CheckMain, OneSeedOfAKernelThatNeverYieldsIsEnough) {
  if (!fiber::FaultGuard::works()) GTEST_SKIP() << "a sanitizer wants to see faults itself";
  const Said said = main_of({"--schedule", "random", "--runs", "20"}, [](FiberWorld& world) {
    world.launch({.name = "spin"}, [](auto& block) {
      for (volatile int turns = 0; block.pe() == 0;) turns = turns + 1;
    });
  });
  EXPECT_EQ(said.status, 1);
  EXPECT_THAT(said.out, HasSubstr("FINDINGS   2 PEs  random     1 run"));
  EXPECT_THAT(said.out, HasSubstr("not all of 20 runs"));
}

TEST(CheckMain, NamesTheOpSitesOfACleanRun) {
  const Said said = main_of({}, right);
  EXPECT_THAT(said.out, testing::ContainsRegex("covered .*check_user_test.cpp:[0-9]+,[0-9]+"));
  EXPECT_THAT(main_of({"--coverage"}, right).out,
              testing::ContainsRegex("check_user_test.cpp:[0-9]+  wait_until  x2\n"));
}

// Two writers of one byte in an order that nothing gives, and a reader whose path depends on it.
void many_orders(FiberWorld& world) {
  const auto to = world.allocate<float>(1);
  world.launch({.name = "add"}, [to](auto& block) { block.fetch_add(to, 0, 1.0F, 0); });
}
TEST(CheckMain, ExhaustiveSaysHowFarItWent) {
  const Said all = main_of({"--schedule", "exhaustive"}, many_orders);
  EXPECT_EQ(all.status, 0) << all.out << all.err;
  EXPECT_THAT(all.out, HasSubstr("2 executions"));
  EXPECT_THAT(all.out, HasSubstr("no bound on preemptions, complete: "));
  const Said some = main_of({"--schedule", "exhaustive", "--bound", "0"}, right);
  EXPECT_EQ(some.status, 0) << some.out;
  EXPECT_THAT(some.out, HasSubstr("1 execution,"));
  EXPECT_THAT(some.out, HasSubstr("at most 0 preemptions in each, "));
}

// The line "  replay mine replay FILE" of what was printed.
std::string replay_of(const std::string& out) {
  const std::string mark = "  replay mine replay ";
  const std::size_t at = out.find(mark);
  if (at == std::string::npos) return "";
  return out.substr(at + mark.size(), out.find('\n', at) - at - mark.size());
}

TEST(CheckMain, ReplaysAFinding) {
  if (!report::has_json()) GTEST_SKIP() << "no nlohmann-json";
  for (const char* schedule : {"worst", "random", "pct", "exhaustive", "fifo"}) {
    const std::string file = replay_of(main_of({"--schedule", schedule}, races).out);
    ASSERT_NE(file, "") << schedule;
    const Said again = main_of({"replay", file}, races);
    EXPECT_EQ(again.status, 1) << schedule << again.out << again.err;
    EXPECT_THAT(again.out, testing::ContainsRegex("RACE  (sum vs put|put vs sum)"));
    EXPECT_THAT(again.out, HasSubstr("# the same finding, word for word"));
    // Another program in the same executable.
    const Said other = main_of({"replay", file}, right);
    EXPECT_EQ(other.status, 2) << schedule << other.out;
    EXPECT_THAT(other.out, HasSubstr("# NOT the same finding"));
  }
}

// A bug of two PEs, found among four in a random order: two are left, few decisions, and it
// replays.
TEST(CheckMain, ShrinksAFinding) {
  if (!report::has_json()) GTEST_SKIP() << "no nlohmann-json";
  const Program racy = [](FiberWorld& world) {
    const Group group{world.channel({1}), world.team()};
    const auto from = world.allocate<float>(64), to = world.allocate<float>(64);
    world.launch({.name = "row"}, [=](auto& block) {
      const int last = group.team.size() - 1;
      if (last > 0 && block.pe() == 0) block.put(to, from, from.all(), last);
      if (last > 0 && block.pe() == last) block.sum(to, to.all(), detail::Identity{});
      barrier(block, group);
    });
  };
  const std::string found = replay_of(main_of({"--pes", "4", "--schedule", "random"}, racy).out);
  ASSERT_NE(found, "");
  const Said small = main_of({"replay", found, "--shrink", "--out", "small.json"}, racy);
  EXPECT_EQ(small.status, 1) << small.out << small.err;
  EXPECT_THAT(small.out, HasSubstr("# 2 PEs, from 4; 0 decisions"));
  EXPECT_THAT(small.out, testing::ContainsRegex("> (put|sum) .*check_user_test.cpp"));
  const Said again = main_of({"replay", "small.json"}, racy);
  EXPECT_EQ(again.status, 1) << again.out << again.err;
  EXPECT_THAT(again.out, HasSubstr("# the same finding, word for word"));
  const Said gone = main_of({"replay", found, "--shrink"}, right);
  EXPECT_EQ(gone.status, 2);
  EXPECT_THAT(gone.err, HasSubstr("no such finding any more"));
}

TEST(CheckMain, WritesFindingsForMachines) {
  if (!report::has_json()) GTEST_SKIP() << "no nlohmann-json";
  const Said said = main_of({"--findings", "mine.jsonl", "--sarif", "mine.sarif"}, races);
  EXPECT_EQ(said.status, 1);
  std::string line, sarif;
  std::getline(std::ifstream("mine.jsonl"), line);
  EXPECT_THAT(line, HasSubstr("\"kind\":\"race\""));
  EXPECT_THAT(line, HasSubstr("\"algorithm\":\"mine\""));
  EXPECT_THAT(line, HasSubstr("\"replay\":\"" + replay_of(said.out) + "\""));
  std::getline(std::ifstream("mine.sarif"), sarif, '\0');
  EXPECT_THAT(sarif, HasSubstr("\"ruleId\": \"race\""));
}

TEST(CheckMain, SuppressesWithAReason) {
  std::filesystem::current_path(testing::TempDir());
  std::ofstream("accepted.txt") << "race check_user_test.cpp the reader throws it away\n"
                                << "deadlock *.cpp known\n";
  const Said race = main_of({"--suppress", "accepted.txt"}, races);
  EXPECT_EQ(race.status, 0) << race.out << race.err;
  EXPECT_THAT(race.out, HasSubstr("accepted.txt:1: the reader throws it away"));
  EXPECT_THAT(race.out, HasSubstr("accepted.txt:1 (race check_user_test.cpp) matched 1 finding"));
  EXPECT_THAT(race.out, HasSubstr("accepted.txt:2 (deadlock *.cpp) matched nothing"));
  // What never ran is not accepted.
  const Said hang = main_of({"--suppress", "accepted.txt"}, hangs);
  EXPECT_EQ(hang.status, 1) << hang.out;
  EXPECT_THAT(hang.out, HasSubstr("INCOMPLETE ended early by a suppressed finding, deadlock ("));
}

}  // namespace
}  // namespace sym::check
