// sym calibrate: a machine file from point-to-point tests on the machine itself.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "experiments/sym/commands.hpp"
#include "models/calibrate.hpp"

namespace sym::command {

// What was measured, and on what.
struct Calibrated {
  std::vector<models::Sample> samples;
  std::string device;                      // the GPU and its driver, or what was simulated
  double sms = 0, compute_capability = 0;  // as the driver says; 0: nobody has asked
};

// `arguments` are those after `calibrate`.
int calibrate_command(const std::vector<std::string>& arguments);

// Throws Unavailable where `pes` GPUs are not there. `base` says what is measured how (see
// calibration_tests).
Calibrated calibrate_on_sim(const models::Machine& simulated, const models::Machine& base, int pes);
// `done` is called on PE 0 alone. Returns the exit status of the processes it started, 0 if it
// started none.
int calibrate_on_cuda(const models::Machine& base, int pes,
                      const std::function<void(const Calibrated&)>& done);

}  // namespace sym::command
