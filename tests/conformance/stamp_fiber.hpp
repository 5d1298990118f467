// Stamps cases for `check` (every schedule that the case is worth; no finding may come) and for
// `sim` (both networks, with the race detector looking on).
//
// The environment widens what `check` runs (tests/nightly.sh): SYM_SCHEDULES=random,pct instead of
// worst, fifo and random; SYM_SEEDS=1000 instead of 5 of each schedule that has a seed;
// SYM_MOST_PES=4 leaves out larger worlds. A case that is worth `worst` alone stays so.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>

#include "backends/check/run.hpp"
#include "sim/child.hpp"
#include "sim/network.hpp"
#include "sim/run.hpp"
#include "tests/conformance/harness.hpp"

namespace sym::conformance {

using FiberCase = Case<fiber::FiberWorld>;

// A variable of the environment, or what holds where it is not set.
inline std::string setting(const char* name, const std::string& otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr || *value == 0 ? otherwise : value;
}

inline std::vector<check::CheckOptions> schedules_of(Effort effort) {
  std::vector<check::CheckOptions> all;
  std::istringstream names(setting("SYM_SCHEDULES", "worst,fifo,random"));
  const std::uint64_t seeds = std::stoull(setting("SYM_SEEDS", "5"));
  check::CheckOptions options;
  while (std::getline(names, options.schedule, ',')) {
    const bool seeded = options.schedule == "random" || options.schedule == "pct";
    if (effort == Effort::worst_only && options.schedule != "worst") continue;
    for (options.seed = 1; options.seed <= (seeded ? seeds : 1); ++options.seed) {
      all.push_back(options);
    }
  }
  return all;
}

inline void on_check(const FiberCase& one) {
  const int most_pes = std::stoi(setting("SYM_MOST_PES", "4096"));
  for (int pes : one.pes) {
    if (pes > most_pes) continue;
    for (check::CheckOptions options : schedules_of(one.effort)) {
      options.pes = pes;
      SCOPED_TRACE(std::to_string(pes) + " PEs, " + options.schedule + ", seed " +
                   std::to_string(options.seed));
      Errors errors;
      const check::CheckReport report =
          check::run_check(options, [&](fiber::FiberWorld& world) { one.program(world, errors); });
      ASSERT_EQ(report.text(), "");
      ASSERT_EQ(errors.text(), "");
      ASSERT_FALSE(report.incomplete);
    }
  }
}

inline void on_sim(const FiberCase& one, const std::string& network) {
  if (network == "simgrid" && !sim::have_simgrid()) GTEST_SKIP() << "this build has no SimGrid";
  for (int pes : one.pes) {
    SCOPED_TRACE(std::to_string(pes) + " PEs");
    const std::string wrong = sim::run_in_child([&] {
      sim::SimOptions options;
      options.machine = models::load_machine(pes <= 8 ? "dgx-h200" : "dgx-h100*5");
      options.pes = pes;
      options.network = network;
      options.fibres =
          pes % 2;  // of odd worlds, a fibre stands for all blocks of a symmetric launch
      options.check = true;
      Errors errors;
      const sim::SimReport report =
          sim::run_sim(options, [&](fiber::FiberWorld& world) { one.program(world, errors); });
      std::string text = errors.text();
      for (const fiber::Finding& finding : report.findings) text += finding.text + "\n";
      return text;
    });
    ASSERT_EQ(wrong, "");
  }
}

class OnCheck : public testing::TestWithParam<FiberCase> {};
class OnSim : public testing::TestWithParam<FiberCase> {};
inline std::string fiber_case_name(const testing::TestParamInfo<FiberCase>& info) {
  return info.param.name;
}

}  // namespace sym::conformance

#define SYM_STAMP_FIBER(GROUP, CASES)                                                             \
  namespace {                                                                                     \
  class GROUP##OnCheck : public sym::conformance::OnCheck {};                                     \
  class GROUP##OnSim : public sym::conformance::OnSim {};                                         \
  TEST_P(GROUP##OnCheck, Works) { sym::conformance::on_check(GetParam()); }                       \
  TEST_P(GROUP##OnSim, WorksOnSimgrid) { sym::conformance::on_sim(GetParam(), "simgrid"); }       \
  TEST_P(GROUP##OnSim, WorksOnPorts) { sym::conformance::on_sim(GetParam(), "ports"); }           \
  INSTANTIATE_TEST_SUITE_P(All, GROUP##OnCheck,                                                   \
                           testing::ValuesIn(CASES<sym::fiber::FiberWorld>()),                    \
                           sym::conformance::fiber_case_name);                                    \
  INSTANTIATE_TEST_SUITE_P(All, GROUP##OnSim, testing::ValuesIn(CASES<sym::fiber::FiberWorld>()), \
                           sym::conformance::fiber_case_name);                                    \
  }
