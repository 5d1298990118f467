// Stamps cases for `thread`.
#pragma once

#include <gtest/gtest.h>

#include "backends/thread/world.hpp"
#include "tests/conformance/harness.hpp"

namespace sym::conformance {

using ThreadCase = Case<thread::ThreadWorld>;

inline void on_thread(const ThreadCase& one) {
  for (int pes : one.pes) {
    SCOPED_TRACE(std::to_string(pes) + " PEs");
    thread::ThreadOptions options;
    options.pes = pes;
    options.wait_limit = std::chrono::milliseconds(60000);
    Errors errors;
    thread::run_threads(options, [&](thread::ThreadWorld& world) { one.program(world, errors); });
    ASSERT_EQ(errors.text(), "");
  }
}

class OnThread : public testing::TestWithParam<ThreadCase> {};
inline std::string thread_case_name(const testing::TestParamInfo<ThreadCase>& info) {
  return info.param.name;
}

}  // namespace sym::conformance

#define SYM_STAMP_THREAD(GROUP, CASES)                                           \
  namespace {                                                                    \
  class GROUP##OnThread : public sym::conformance::OnThread {};                  \
  TEST_P(GROUP##OnThread, Works) { sym::conformance::on_thread(GetParam()); }    \
  INSTANTIATE_TEST_SUITE_P(All, GROUP##OnThread,                                 \
                           testing::ValuesIn(CASES<sym::thread::ThreadWorld>()), \
                           sym::conformance::thread_case_name);                  \
  }
