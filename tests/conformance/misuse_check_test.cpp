#include <gmock/gmock.h>

#include "tests/conformance/cases_misuse.hpp"
#include "tests/conformance/stamp_fiber.hpp"

namespace sym::conformance {
namespace {

using fiber::FiberWorld;
using testing::HasSubstr;
using testing::StartsWith;

using Program = void (*)(FiberWorld&);

std::vector<check::CheckOptions> schedules(int pes) {
  std::vector<check::CheckOptions> all(4);
  for (check::CheckOptions& one : all) one.pes = pes;
  all[1].schedule = "fifo";
  all[2].schedule = all[3].schedule = "random";
  all[3].seed = 7;
  return all;
}

// Under every schedule: the first finding is of this kind, and its text is handed to `look`.
template <class F>
void expect_finding(int pes, Program program, const std::string& kind, F look) {
  for (const check::CheckOptions& options : schedules(pes)) {
    SCOPED_TRACE(options.schedule);
    const check::CheckReport report = check::run_check(options, program);
    ASSERT_FALSE(report.clean());
    EXPECT_EQ(report.findings[0].kind, kind) << report.text();
    look(report.findings[0].text);
  }
}

std::string refusal(int pes, Program program) {
  try {
    (void)check::run_check(schedules(pes)[0], program);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "nothing was refused";
}

TEST(MisuseOnCheck, DifferentSizesNameThePes) {
  const std::string text = refusal(3, different_sizes<FiberWorld>);
  EXPECT_THAT(text, HasSubstr("PE 1"));
  EXPECT_THAT(text, HasSubstr("11 elements"));
  EXPECT_THAT(text, HasSubstr("10 elements"));
}

TEST(MisuseOnCheck, DifferentOrderNamesThePes) {
  EXPECT_THAT(refusal(2, different_order<FiberWorld>), HasSubstr("PE 1"));
}

TEST(MisuseOnCheck, FreedTwice) {
  EXPECT_THAT(refusal(2, freed_twice<FiberWorld>), HasSubstr("not the start of a live allocation"));
}

TEST(MisuseOnCheck, DifferentCountsNameThePe) {
  expect_finding(4, different_counts<FiberWorld>, "mismatch", [](const std::string& text) {
    EXPECT_THAT(text, HasSubstr("PE 2"));
    EXPECT_THAT(text, HasSubstr("all_reduce.hpp:"));
  });
}

TEST(MisuseOnCheck, OneSkipsIsADeadlockAtOnce) {
  expect_finding(3, one_skips<FiberWorld>, "deadlock", [](const std::string& text) {
    EXPECT_THAT(text, StartsWith("DEADLOCK"));
    EXPECT_THAT(text, HasSubstr("missing: PE 1"));
    EXPECT_THAT(text, HasSubstr("slot 1 lane 1: expected 3, seen 2"));
    EXPECT_THAT(text, HasSubstr("launch 2 (second)  wait_until at "));
  });
}

TEST(MisuseOnCheck, ChannelOnTwoStreamsIsBusy) {
  expect_finding(2, channel_on_two_streams<FiberWorld>, "busy", [](const std::string& text) {
    EXPECT_THAT(text, HasSubstr("intrudes"));
    EXPECT_THAT(text, HasSubstr("launch 1 (holds) has entered the channel and not left it"));
    EXPECT_THAT(text, HasSubstr("a channel each"));
  });
}

TEST(MisuseOnCheck, OverlappingWindowsAreRefused) {
  expect_finding(2, overlapping_windows<FiberWorld>, "refused", [](const std::string& text) {
    EXPECT_THAT(text, HasSubstr("does not overlap its output"));
    EXPECT_THAT(text, HasSubstr("apart.hpp:"));
  });
}

TEST(MisuseOnCheck, MoreBlocksThanTheChannelHas) {
  expect_finding(2, too_many_blocks<FiberWorld>, "error", [](const std::string& text) {
    EXPECT_THAT(text, HasSubstr("3 blocks on a channel for 2"));
  });
}

TEST(MisuseOnSim, OneSkipsIsADeadlockAtOnce) {
  sim::SimOptions options;
  options.machine = models::load_machine("dgx-h200");
  options.pes = 3;
  options.network = "ports";
  const sim::SimReport report = sim::run_sim(options, one_skips<FiberWorld>);
  ASSERT_EQ(report.findings.size(), 1U);
  EXPECT_THAT(report.findings[0].text, HasSubstr("missing: PE 1"));
}

}  // namespace
}  // namespace sym::conformance
