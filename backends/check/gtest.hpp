// GoogleTest: a finding of the checker is a failed expectation, at the line of the kernel that it
// is about. The only header of the backends that knows GoogleTest; include it in tests alone.
//
//   TEST(MyKernel, IsClean) {
//     sym::check::CheckOptions options;
//     options.pes = 3;
//     EXPECT_CLEAN(program<sym::fiber::FiberWorld>, options);              // the worst order
//     EXPECT_CLEAN_EVERYWHERE(program<sym::fiber::FiberWorld>, options, 20);  // and 20 seeds
//   }
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "backends/check/user.hpp"

namespace sym::check {

// Where a finding is shown: the first place of it that has a line, or the caller's.
inline Site site_of(const fiber::Finding& finding, Site caller) {
  for (const fiber::Place& place : finding.places) {
    if (place.site.line != 0) return place.site;
  }
  return caller;
}

// One failure for each finding of the report (races, deadlocks and all others), and one if a budget
// ended the run or no verb ran, at the caller's line. True if there was none.
inline bool expect_clean(const CheckReport& report, const std::string& run, Site caller) {
  for (const fiber::Finding& finding : report.findings) {
    const Site site = site_of(finding, caller);
    ADD_FAILURE_AT(site.file, site.line) << finding.text << "\n" << run;
  }
  const bool nothing =
      report.statistics.sites.empty() && report.findings.empty() && !report.incomplete;
  if (nothing) {
    ADD_FAILURE_AT(caller.file, caller.line)
        << "nothing was checked: no kernel and no queue has called a verb\n"
        << run;
  }
  if (report.incomplete) {
    ADD_FAILURE_AT(caller.file, caller.line)
        << "incomplete: a budget ended the run, and nothing is known of the rest\n"
        << run;
  }
  return report.clean() && !report.incomplete && !nothing;
}

// Runs the program once (check_program: an exception is a finding too).
inline bool expect_clean(const Program& program, const CheckOptions& options,
                         Site caller = Site::here()) {
  const std::string run = "under " + options.schedule + ", seed " + std::to_string(options.seed) +
                          ", " + std::to_string(options.pes) + " PEs";
  return expect_clean(check_program(options, program), run, caller);
}

// The same under each of usual_schedules(options, seeds), up to the first that is not clean: one
// bug would fail under every other as well.
inline bool expect_clean_everywhere(const Program& program, const CheckOptions& options,
                                    std::uint64_t seeds, Site caller = Site::here()) {
  for (const CheckOptions& one : usual_schedules(options, seeds)) {
    if (!expect_clean(program, one, caller)) return false;
  }
  return true;
}

}  // namespace sym::check

// As functions above; for those who like GoogleTest's spelling.
#define EXPECT_CLEAN(program, options) ::sym::check::expect_clean(program, options)
#define EXPECT_CLEAN_EVERYWHERE(program, options, seeds) \
  ::sym::check::expect_clean_everywhere(program, options, seeds)
