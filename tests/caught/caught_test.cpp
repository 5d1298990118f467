// Every planted bug is reported, and every repaired twin is silent.
#include "tests/caught/caught.hpp"

#include <gmock/gmock.h>

#include "backends/fiber/fault.hpp"

namespace sym::caught {
namespace {

using testing::HasSubstr;

// worst, fifo and as many random seeds.
std::vector<check::CheckOptions> schedules(const Program& program, std::uint64_t seeds) {
  check::CheckOptions options;
  options.pes = program.pes;
  options.resident_blocks = program.resident_blocks;
  std::vector<check::CheckOptions> all{options};
  options.schedule = "fifo";
  all.push_back(options);
  options.schedule = "random";
  for (options.seed = 1; options.seed <= seeds; ++options.seed) all.push_back(options);
  return all;
}

check::CheckReport run(const Program& program, const check::CheckOptions& options, bool fixed) {
  return check::run_check(options, [&](FiberWorld& world) { program.run(world, fixed); });
}

class Caught : public testing::TestWithParam<Program> {};

TEST_P(Caught, IsReported) {
  const Program& program = GetParam();
  if (program.kind == "livelock" && !fiber::FaultGuard::works())
    GTEST_SKIP() << "livelocks are not decided under sanitizers";
  for (const check::CheckOptions& options : schedules(program, 20)) {
    if (program.found == Found::by_worst && options.schedule != "worst") continue;
    SCOPED_TRACE(options.schedule + " " + std::to_string(options.seed));
    const check::CheckReport report = run(program, options, false);
    ASSERT_FALSE(report.clean());
    EXPECT_EQ(report.findings[0].kind, program.kind) << report.text();
    for (const std::string& words : program.says) EXPECT_THAT(report.text(), HasSubstr(words));
    if (options.schedule != "random") {
      EXPECT_THAT(report.text(), HasSubstr(program.hint));
    }
    // Where: a line of the planted kernel (or, for a wait inside barrier(), of the line that calls
    // it).
    EXPECT_THAT(report.text(), HasSubstr(program.where));
  }
}

TEST_P(Caught, RepairedIsSilent) {
  const Program& program = GetParam();
  for (const check::CheckOptions& options : schedules(program, 20)) {
    SCOPED_TRACE(options.schedule + " " + std::to_string(options.seed));
    EXPECT_EQ(run(program, options, true).text(), "");
  }
}

INSTANTIATE_TEST_SUITE_P(All, Caught, testing::ValuesIn(programs()),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace sym::caught
