// What tests of verdicts share: programs that hang, and what is said of them.
#pragma once

#include <gmock/gmock.h>

#include <string>

#include "backends/check/run.hpp"

namespace sym::check {

using fiber::FiberBlock;
using fiber::FiberWorld;
using fiber::Finding;
using testing::HasSubstr;

inline Signals counter(FiberWorld& world, std::size_t slots) {
  Signals signals;
  signals.words = world.allocate_control<std::uint64_t>(slots);
  signals.slots = slots;
  return signals;
}

// The finding of a program that hangs, or polls for ever: under every schedule the same verdict.
// The only one, unless the program `races` besides.
template <class Program>
Finding hang(int pes, Program program, int resident = 0, bool races = false,
             const char* kind = "deadlock") {
  Finding finding;
  for (const char* schedule : {"random", "fifo", "worst"}) {
    CheckOptions options;
    options.pes = pes;
    options.schedule = schedule;
    options.resident_blocks = resident;
    const CheckReport report = run_check(options, program);
    EXPECT_EQ(report.findings.size(), races ? 2U : 1U) << report.text();
    if (report.findings.empty()) continue;
    const Finding& last = report.findings.back();
    EXPECT_EQ(last.kind, kind);
    EXPECT_TRUE(finding.verdict.empty() || finding.verdict == last.verdict)
        << schedule << ": " << report.text();
    finding = last;
    EXPECT_THAT(finding.text, HasSubstr("  verdict " + finding.verdict + ": " + finding.why));
    EXPECT_FALSE(finding.fix.empty());
  }
  return finding;
}

template <class Kernel>
void launch(FiberWorld& world, Kernel kernel, int blocks = 1, int stream = 0) {
  LaunchConfig config;
  config.name = "kernel";
  config.blocks = blocks;
  config.stream = stream;
  world.launch(config, kernel);
}

}  // namespace sym::check
