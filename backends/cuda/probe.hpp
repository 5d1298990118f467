// Can this machine run PEs on GPUs?
#pragma once

#include <string>

namespace sym::cuda {

// Empty if `pes` PEs on `gpus` GPUs can run here (gpus < pes: all of them share GPU 0, as run_cuda
// does); else one sentence that says what is missing. Makes no CUDA context, so a process may spawn
// others afterwards.
std::string why_unavailable(int pes, int gpus);

// GPUs that CUDA sees; 0 if there is no driver.
int gpu_count();

struct DeviceFacts {
  std::string name, driver;  // the driver's version: 580.159.04
  int sms = 0;
  int compute_capability = 0;  // times 10: 90 for Hopper
};
DeviceFacts device_facts(int device);

}  // namespace sym::cuda
