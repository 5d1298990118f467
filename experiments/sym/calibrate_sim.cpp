// sym calibrate on a simulated machine: what comes out is known, so it shows whether the fit is
// right.
#include <algorithm>

#include "core/error.hpp"
#include "experiments/sym/backends.hpp"
#include "experiments/sym/calibrate.hpp"
#if defined(SYM_HAVE_FIBER)
#include "experiments/sym/calibrate_run.hpp"
#include "sim/run.hpp"
#endif

namespace sym::command {

#if !defined(SYM_HAVE_FIBER)

Calibrated calibrate_on_sim(const models::Machine&, const models::Machine&, int) {
  throw Unavailable("sim: " + why_unavailable("sim"));
}

#else

Calibrated calibrate_on_sim(const models::Machine& simulated, const models::Machine& base,
                            int pes) {
  if (simulated.gpus_per_node < pes) {
    throw Unavailable("calibrate: the link needs two GPUs of one node, and a node of " +
                      simulated.name + " has one; --local measures what one GPU has");
  }
  Calibrated all;
  all.device = "a simulation of " + simulated.name;
  all.samples =
      models::calibration_tests(base, pes, static_cast<int>(simulated.number_or("sms", 132)));
  sim::SimOptions options;
  options.machine = simulated;
  options.pes = pes;
  options.network = "ports";
  options.data = false;
  const sim::SimReport report = sim::run_sim(options, [&](fiber::FiberWorld& world) {
    const std::vector<double> times = calibration_times(world, all.samples, [](std::size_t) {});
    for (std::size_t i = 0; i < times.size(); ++i)
      all.samples[i].us = std::max(all.samples[i].us, times[i]);
  });
  if (!report.findings.empty()) throw Failure(report.findings[0].text);
  return all;
}

#endif

}  // namespace sym::command
