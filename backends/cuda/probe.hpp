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

}  // namespace sym::cuda
