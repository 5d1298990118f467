#include <gmock/gmock.h>

#include "tests/conformance/cases_queue.hpp"
#include "tests/conformance/stamp_thread.hpp"

SYM_STAMP_THREAD(Queue, sym::conformance::queue_cases)

namespace sym::conformance {
namespace {

TEST(NeverPosted, FailsWithinTheLimitOnThread) {
  thread::ThreadOptions options;
  options.pes = 2;
  options.wait_limit = std::chrono::milliseconds(300);
  std::string text = "nothing failed";
  try {
    thread::run_threads(options, never_posted<thread::ThreadWorld>);
  } catch (const Failure& failure) {
    text = failure.what();
  }
  EXPECT_THAT(text, testing::HasSubstr("take"));
  EXPECT_THAT(text, testing::HasSubstr("slot 2"));
  EXPECT_THAT(text, testing::HasSubstr("PE 1"));
}

}  // namespace
}  // namespace sym::conformance
