// What is said of findings, whoever found them: op sites in short, and replay files of other
// builds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "backends/report/build.hpp"
#include "backends/report/covered.hpp"
#include "backends/report/findings.hpp"
#include "backends/report/replay_file.hpp"
#include "core/error.hpp"

namespace sym::report {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Covered, EachFileOnceWithItsLinesInOrder) {
  EXPECT_THAT(covered_lines({}), ElementsAre());
  EXPECT_THAT(covered_lines({{"a.hpp:9", "put"},
                             {"a.hpp:10", "quiet"},
                             {"a.hpp:10", "signal"},
                             {"b/c.hpp:3", "put"}}),
              ElementsAre("a.hpp:9,10 b/c.hpp:3"));
}

TEST(Covered, CountsWhatDoesNotFit) {
  Sites sites;
  for (int line = 1; line <= 200; ++line) sites.insert({"k.hpp:" + std::to_string(line), "put"});
  const std::vector<std::string> lines = covered_lines(sites);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_THAT(lines[0], testing::StartsWith("k.hpp:1,2,3,"));
  EXPECT_LE(lines[0].size(), 100U);
  const std::size_t last = lines[1].rfind(',', lines[1].find(" and ")) + 1;
  const int shown = std::stoi(lines[1].substr(last));
  EXPECT_THAT(lines[1], testing::EndsWith(" and " + std::to_string(200 - shown) +
                                          " more (--coverage prints all)"));
}

TEST(Findings, WhichOnesEndTheirRun) {
  const auto ends = [](const char* kind, bool ended) {
    return Finding{kind, "", "", "", "", {}, ended}.ends_run();
  };
  for (const char* kind : {"deadlock", "busy", "post"}) {
    EXPECT_TRUE(ends(kind, true)) << kind;
    EXPECT_FALSE(ends(kind, false)) << kind;  // the race detector's: the run goes on
  }
  for (const char* kind : {"exception", "failure", "replay"})
    EXPECT_TRUE(ends(kind, false)) << kind;
  EXPECT_FALSE(ends("race", false));
}

// A host that waits beside them is of the run, not of the bug: with fewer PEs another one may.
TEST(Findings, AHangIsKnownByItsKernels) {
  const Place wait{"wait", "wait_until", "k.hpp", "k", 7, 0, 0};
  const Place host{"wait", "World::barrier", "main.cpp", "host", 30, 1};
  const auto hang = [](const std::vector<Place>& places) {
    return Finding{"deadlock", "", "cycle", "", "", places}.bug();
  };
  EXPECT_EQ(hang({wait, host}), hang({wait}));
  EXPECT_NE(hang({host}), hang({wait}));
  EXPECT_THAT(hang({host}), testing::HasSubstr("main.cpp:30"));
}

// The same two lines, but the other one writes: shrinking one must not end in the other.
TEST(Findings, ARaceIsKnownByWhichOfTheTwoWrites) {
  const auto race = [](const char* put, const char* transform) {
    const Place of_put{put, "put", "k.hpp", "k", 7},
        of_transform{transform, "transform", "k.hpp", "k", 9};
    return Finding{"race", "", "", "", "", {of_put, of_transform}}.bug();
  };
  EXPECT_NE(race("read", "write"), race("write", "read"));
  EXPECT_NE(race("write", "write"), race("write", "read"));
  EXPECT_EQ(race("read", "write"), race("read", "write"));
}

TEST(Replays, AreOfOneBuild) {
  if (!has_json()) GTEST_SKIP() << "no nlohmann-json";
  const std::string file = testing::TempDir() + "report_test.json";
  Replay replay;
  replay.arguments = {"--pes", "2"};
  replay.decisions = {3, 0, 0, 0, 5};
  replay.findings = {{"race", "RACE  one", "", "why", "fix", {}}};
  ASSERT_EQ(write_replay(replay, file, "sources 1"), file);
  EXPECT_EQ(read_replay(file, "sources 1").decisions, replay.decisions);
  EXPECT_EQ(read_replay(file, "sources 1").text(), replay.text());
  try {
    (void)read_replay(file, "sources 2");
    FAIL() << "a file of other sources was read";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("another build"));
    EXPECT_THAT(error.what(), HasSubstr("sources 1"));
    EXPECT_THAT(error.what(), HasSubstr("sources 2"));
  }
  EXPECT_THROW((void)write_replay(replay, "no/such/folder", ""), UsageError);
}

TEST(Replays, OneIsReproducedTwoIsNot) {
  Replay replay, other;
  replay.findings = {{"race", "RACE  one", "", "", "", {}}};
  EXPECT_EQ(compare_replays(replay, replay), 1);
  EXPECT_EQ(compare_replays(replay, other), 2);
}

// No path, no time: sources and compiler.
TEST(Build, IsNamedByItsSources) {
  EXPECT_THAT(source_id(), testing::ContainsRegex("^sources [0-9a-f]+, [A-Za-z]+ [0-9.]+$"));
}

}  // namespace
}  // namespace sym::report
