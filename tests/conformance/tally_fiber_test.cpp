#include <gmock/gmock.h>

#include "tests/conformance/cases_pieces.hpp"
#include "tests/conformance/stamp_fiber.hpp"

SYM_STAMP_FIBER(Tally, sym::conformance::tally_cases)
SYM_STAMP_FIBER(Pieces, sym::conformance::pieces_cases)

namespace sym::conformance {
namespace {

using testing::HasSubstr;

// A finding ends the run, so there is nothing to recover from. One PE: no other comes first.
fiber::Finding found(void (*program)(fiber::FiberWorld&), int pes) {
  check::CheckOptions options;
  options.pes = pes;
  const check::CheckReport report = check::run_check(options, program);
  return report.findings.empty() ? fiber::Finding{"none", ""} : report.findings[0];
}

TEST(RequireOnCheck, SaysWhatWasRefusedAndWhere) {
  const fiber::Finding finding = found(refuses<fiber::FiberWorld>, 3);
  EXPECT_EQ(finding.kind, "refused");
  EXPECT_THAT(finding.text, HasSubstr("REFUSED tokens of one PE: 7 against 5"));
  EXPECT_THAT(finding.text, HasSubstr("PE 2 block 0  launch 1 (requires)  require at "));
  EXPECT_THAT(finding.text, HasSubstr("cases_pieces.hpp:"));
}

TEST(ScratchOnCheck, OverrunIsRefused) {
  const fiber::Finding finding = found(overruns_scratch<fiber::FiberWorld>, 1);
  EXPECT_EQ(finding.kind, "error");
  EXPECT_THAT(finding.text,
              HasSubstr("out of bounds: bytes [0, 68) of a launch with 64 scratch bytes"));
  EXPECT_THAT(finding.text, HasSubstr("launch 2 (overrun)"));
}

}  // namespace
}  // namespace sym::conformance
