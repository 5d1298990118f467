// Stamps cases for GPUs: worlds of several sizes as threads that share GPU 0, and two PEs as
// processes on two GPUs. Skips, and says so, where the machine has too few.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "backends/cuda/launch.cuh"
#include "backends/cuda/placement.hpp"
#include "backends/cuda/probe.hpp"
#include "backends/cuda/runner.hpp"
#include "tests/conformance/harness.hpp"

namespace sym::conformance {

using CudaCase = Case<cuda::CudaWorld>;

inline void on_one_gpu(const CudaCase& one) {
  if (cuda::is_child()) GTEST_SKIP() << "this process is one PE of another test";
  cuda::prepare_environment(8, 1);
  const std::string why = cuda::why_unavailable(1, 1);
  if (!why.empty()) GTEST_SKIP() << why;
  for (int pes : one.pes) {
    if (pes > 8) continue;  // so many waiting kernels do not run at once
    SCOPED_TRACE(std::to_string(pes) + " PEs on one GPU");
    Errors errors;
    cuda::run_cuda(pes, 1, [&](cuda::CudaWorld& world) { one.program(world, errors); });
    ASSERT_EQ(errors.text(), "");
  }
}

// Each PE is a process: this program again, for this test alone.
inline void on_two_gpus(const CudaCase& one) {
  if (one.least_pes > 2) GTEST_SKIP() << "needs " << one.least_pes << " PEs";
  if (!cuda::is_child()) {
    cuda::prepare_environment(2, 2);
    const std::string why = cuda::why_unavailable(2, 2);
    if (!why.empty()) GTEST_SKIP() << why;
    const testing::TestInfo& test = *testing::UnitTest::GetInstance()->current_test_info();
    std::string program = "conformance";
    std::string filter =
        std::string("--gtest_filter=") + test.test_suite_name() + "." + test.name();
    char* arguments[] = {program.data(), filter.data(), nullptr};
    ASSERT_EQ(cuda::spawn_pes(2, arguments), 0);
    return;
  }
  Errors errors;
  cuda::run_cuda(2, 2, [&](cuda::CudaWorld& world) { one.program(world, errors); });
  std::fputs(errors.text().c_str(), stderr);  // of PEs other than 0, stdout is not shown
  ASSERT_EQ(errors.text(), "");
}

class OnCuda : public testing::TestWithParam<CudaCase> {};
inline std::string name_of(const testing::TestParamInfo<CudaCase>& info) { return info.param.name; }

}  // namespace sym::conformance

#define SYM_STAMP_CUDA(GROUP, CASES)                                                             \
  namespace {                                                                                    \
  class GROUP##OnCuda : public sym::conformance::OnCuda {};                                      \
  TEST_P(GROUP##OnCuda, WorksOnOneGpu) { sym::conformance::on_one_gpu(GetParam()); }             \
  TEST_P(GROUP##OnCuda, WorksOnTwoGpus) { sym::conformance::on_two_gpus(GetParam()); }           \
  INSTANTIATE_TEST_SUITE_P(All, GROUP##OnCuda, testing::ValuesIn(CASES<sym::cuda::CudaWorld>()), \
                           sym::conformance::name_of);                                           \
  }
