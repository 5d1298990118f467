#include <gmock/gmock.h>

#include "tests/conformance/cases_queue.hpp"
#include "tests/conformance/stamp_cuda.cuh"

SYM_STAMP_CUDA(Queue, sym::conformance::queue_cases)

namespace sym::conformance {
namespace {

TEST(NeverPosted, FailsWithinTheLimitOnCuda) {
  if (cuda::is_child()) GTEST_SKIP() << "this process is one PE of another test";
  cuda::prepare_environment(8, 1);
  const std::string why = cuda::why_unavailable(1, 1);
  if (!why.empty()) GTEST_SKIP() << why;
  std::string text = "nothing failed";
  try {
    cuda::run_cuda(2, 1, never_posted<cuda::CudaWorld>);
  } catch (const Failure& failure) {
    text = failure.what();
  }
  EXPECT_THAT(text, testing::HasSubstr("slot 2"));
  EXPECT_THAT(text, testing::HasSubstr("PE 1"));
}

}  // namespace
}  // namespace sym::conformance
