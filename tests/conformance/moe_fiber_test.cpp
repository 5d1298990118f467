#include <gmock/gmock.h>

#include "tests/conformance/cases_moe.hpp"
#include "tests/conformance/cases_moe_refusals.hpp"
#include "tests/conformance/stamp_fiber.hpp"

SYM_STAMP_FIBER(Moe, sym::conformance::moe_cases)
SYM_STAMP_FIBER(MoeHost, sym::conformance::moe_host_cases)

namespace sym::conformance {
namespace {

// A finding ends a run of the checker, so there is no next call here.
void expect_refused(void (*program)(fiber::FiberWorld&), const std::string& sentence) {
  for (const char* schedule : {"worst", "fifo", "random"}) {
    SCOPED_TRACE(schedule);
    check::CheckOptions options;
    options.pes = 3;
    options.schedule = schedule;
    const check::CheckReport report = check::run_check(options, program);
    ASSERT_FALSE(report.clean());
    EXPECT_EQ(report.findings[0].kind, "refused");
    EXPECT_THAT(report.findings[0].text, testing::HasSubstr(sentence));
  }
}

TEST(MoeRefusedOnCheck, Id) {
  expect_refused(moe_refuses<fiber::FiberWorld, Wrong::id>, sentence_of(Wrong::id));
}
TEST(MoeRefusedOnCheck, Weight) {
  expect_refused(moe_refuses<fiber::FiberWorld, Wrong::weight>, sentence_of(Wrong::weight));
}
TEST(MoeRefusedOnCheck, Capacity) {
  expect_refused(moe_refuses<fiber::FiberWorld, Wrong::capacity>, sentence_of(Wrong::capacity));
}
TEST(MoeRefusedOnCheck, Splits) {
  expect_refused(all_to_all_v_refuses<fiber::FiberWorld>, "all_to_all_v: ");  // of whoever is first
}

}  // namespace
}  // namespace sym::conformance
