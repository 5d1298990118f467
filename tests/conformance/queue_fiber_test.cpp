#include <gmock/gmock.h>

#include "tests/conformance/cases_queue.hpp"
#include "tests/conformance/stamp_fiber.hpp"

SYM_STAMP_FIBER(Queue, sym::conformance::queue_cases)

namespace sym::conformance {
namespace {

using testing::HasSubstr;

void expect_never_posted(const std::vector<fiber::Finding>& findings) {
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].kind, "deadlock");
  EXPECT_THAT(findings[0].text, HasSubstr("PE 0 queue 0  take at "));
  EXPECT_THAT(findings[0].text, HasSubstr("cases_queue.hpp:"));
  EXPECT_THAT(findings[0].text, HasSubstr("slot 2: missing: PE 1 has posted it 0 times"));
}

TEST(NeverPosted, IsADeadlockOnCheck) {
  for (const char* schedule : {"worst", "fifo", "random"}) {
    check::CheckOptions options;
    options.pes = 2;
    options.schedule = schedule;
    expect_never_posted(check::run_check(options, never_posted<fiber::FiberWorld>).findings);
  }
}

TEST(NeverPosted, IsADeadlockOnSim) {
  sim::SimOptions options;
  options.machine = models::load_machine("h200x2");
  options.pes = 2;
  options.network = "ports";
  expect_never_posted(sim::run_sim(options, never_posted<fiber::FiberWorld>).findings);
}

}  // namespace
}  // namespace sym::conformance
