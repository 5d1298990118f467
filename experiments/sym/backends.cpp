#include "experiments/sym/backends.hpp"

#include <algorithm>
#include <mutex>

#include "backends/thread/world.hpp"
#include "core/error.hpp"
#if defined(SYM_HAVE_CUDA)
#include "backends/cuda/probe.hpp"
#endif

namespace sym::command {

const std::vector<std::string>& backend_names() {
  static const std::vector<std::string> names{"check", "thread", "sim", "cuda", "ibgda"};
  return names;
}

std::string why_unavailable(const std::string& backend) {
#if !defined(SYM_HAVE_FIBER)
  if (backend == "check" || backend == "sim") {
    return "this build has no Boost.Context; install libboost-context-dev and build again";
  }
#endif
  if (backend == "cuda") {
#if defined(SYM_HAVE_CUDA)
    return cuda::why_unavailable(1, 1);
#else
    return "this build has no CUDA backend; install CUDA 12.4 or newer and NCCL 2.28 or newer and "
           "build again";
#endif
  }
  if (backend == "ibgda") return "not built yet: the NIC backend comes with a later release";
  return "";
}

namespace {
// Times and busiest ends: the most of any PE; `remote_bytes` and `duplicates` add up.
void merge(Measures& all, const Measures& one) {
  const Measures before = all;
  std::vector<double> theirs;
  for_each_measure(one, [&](const char*, double value) { theirs.push_back(value); });
  std::size_t at = 0;
  for_each_measure(all, [&](const char*, double& value) { value = std::max(value, theirs[at++]); });
  all.remote_bytes = before.remote_bytes + one.remote_bytes;
  all.duplicates = before.duplicates + one.duplicates;
}
}  // namespace

PointResult merge(const Algorithm& algorithm, const std::vector<PointResult>& results) {
  PointResult all = results.at(0);
  for (std::size_t pe = 1; pe < results.size(); ++pe) {
    const PointResult& one = results[pe];
    all.wrong += one.wrong;
    all.time_us = std::max(all.time_us, one.time_us);
    if (all.first_wrong.empty()) all.first_wrong = one.first_wrong;
    if (all.failure.empty()) all.failure = one.failure;
    if (algorithm.family.equal_outputs && one.hash != results[0].hash) {
      ++all.wrong;
      if (all.first_wrong.empty())
        all.first_wrong = "PE " + std::to_string(pe) + " has other bits than PE 0";
    }
    merge(all.measures, one.measures);
  }
  all.measures.remote_bytes /= static_cast<double>(results.size());
  return all;
}

namespace {
Finding failure_of(const std::string& what) {
  Finding finding;
  finding.kind = "failure";
  finding.text = "FAILED  " + what;
  finding.why = what;
  return finding;
}
}  // namespace

void add_failure(Outcome& outcome) {
  if (outcome.result.failure.empty()) return;
  outcome.findings.push_back(failure_of(outcome.result.failure));
}

Finding wrong_data(const PointResult& result) {
  Finding finding;
  finding.kind = "wrong-data";
  finding.why = std::to_string(result.wrong) + " elements are wrong: " + result.first_wrong;
  finding.text = "WRONG DATA  " + finding.why;
  return finding;
}

Outcome run_on_thread(const Algorithm& algorithm, const Point& point, const RunOptions& options) {
  thread::ThreadOptions thread_options;
  thread_options.pes = point.pes;
  thread_options.wait_limit = std::chrono::milliseconds(options.wait_ms);
  std::vector<PointResult> results(static_cast<std::size_t>(point.pes));
  Outcome outcome;
  try {
    thread::run_threads(thread_options, [&](thread::ThreadWorld& world) {
      results[static_cast<std::size_t>(world.pe())] = algorithm.thread(world, point);
    });
  } catch (const Failure& failure) {
    outcome.findings.push_back(failure_of(failure.what()));
  }
  outcome.result = merge(algorithm, results);
  add_failure(outcome);
  return outcome;
}

}  // namespace sym::command
