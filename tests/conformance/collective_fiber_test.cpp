#include <ctime>

#include "tests/conformance/cases_collective.hpp"
#include "tests/conformance/stamp_fiber.hpp"

SYM_STAMP_FIBER(Collective, sym::conformance::collective_cases)

namespace sym::conformance {
namespace {

// What the checker may cost: 8 PEs, 8 blocks, three launches of every collective and variant, in
// processor time, because other tests run beside this one.
TEST(CollectiveCost, ThreeLaunchesOfEveryCollectiveTakeSeconds) {
  check::CheckOptions options;
  options.pes = 8;
  Errors errors;
  const std::clock_t begin = std::clock();
  const check::CheckReport report = check::run_check(options, [&](fiber::FiberWorld& world) {
    sums_of<float>(world, errors, {{16384, 16384, 16384}, {8}});
  });
  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  EXPECT_EQ(report.text(), "");
  EXPECT_EQ(errors.text(), "");
  RecordProperty("seconds", std::to_string(seconds));
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_LT(seconds, 20);
#endif
}

}  // namespace
}  // namespace sym::conformance
