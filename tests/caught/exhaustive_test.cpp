// The search over all schedules, on the planted bugs: it sees all that random schedules see, and of
// the repaired programs it has seen everything and says nothing.
#include <gmock/gmock.h>

#include <set>

#include "backends/fiber/fault.hpp"
#include "tests/caught/caught.hpp"

namespace sym::caught {
namespace {

// What a finding is about, whichever PE it was that showed it first.
std::set<std::string> kinds_and_lines(const check::CheckReport& report) {
  std::set<std::string> all;
  for (const fiber::Finding& finding : report.findings) {
    std::multiset<std::string> lines;
    for (const fiber::Place& place : finding.places) {
      lines.insert(std::string(to_string(place.verb)) + " " + std::to_string(place.site.line));
    }
    std::string text = finding.kind;
    for (const std::string& line : lines) text += ", " + line;
    all.insert(text);
  }
  return all;
}

class Exhaustive : public testing::TestWithParam<Program> {};

TEST_P(Exhaustive, SeesAllThatRandomSees) {
  const Program& program = GetParam();
  // The search gives places in the order of launch; random asks which launch comes first.
  if (program.resident_blocks > 0) GTEST_SKIP() << "which launch gets places is not searched";
  if (program.kind == "livelock" && !fiber::FaultGuard::works())
    GTEST_SKIP() << "livelocks are not decided under sanitizers";
  check::CheckOptions options;
  options.pes = program.pes;
  options.schedule = "exhaustive";
  options.most_steps = 50'000;
  const auto run = [&](bool fixed) {
    return check::run_check(options, [&](FiberWorld& world) { program.run(world, fixed); });
  };
  const check::CheckReport all = run(false);
  RecordProperty("executions", std::to_string(all.executions));
  RecordProperty("complete", all.incomplete ? "no" : "yes");
  options.schedule = "random";
  options.most_steps = 0;
  for (options.seed = 1; options.seed <= 10; ++options.seed) {
    for (const std::string& finding : kinds_and_lines(run(false))) {
      EXPECT_THAT(kinds_and_lines(all), testing::Contains(finding)) << all.text();
    }
  }
}

TEST_P(Exhaustive, RepairedIsSilent) {
  const Program& program = GetParam();
  check::CheckOptions options;
  options.pes = program.pes;
  options.resident_blocks = program.resident_blocks;
  options.schedule = "exhaustive";
  options.most_steps = 50'000;
  const check::CheckReport report =
      check::run_check(options, [&](FiberWorld& world) { program.run(world, true); });
  EXPECT_EQ(report.text(), "");
  RecordProperty("executions", std::to_string(report.executions));
  RecordProperty("complete", report.incomplete ? "no" : "yes");
}

INSTANTIATE_TEST_SUITE_P(All, Exhaustive, testing::ValuesIn(programs()),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace sym::caught
