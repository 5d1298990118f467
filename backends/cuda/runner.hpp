// Runs one host program on every PE: in this process if a launcher made it one of the PEs, in
// processes that it starts, or in threads that share one GPU.
#pragma once

#include <functional>

#include "backends/cuda/cuda_world.hpp"
#include "backends/cuda/placement.hpp"

namespace sym::cuda {

// Sets the environment that CUDA and NCCL read at their first call: multicast off, a hardware queue
// for each stream (fewer than 32, if you set that, are not accepted), and where PEs will share a
// GPU CUDA_MODULE_LOADING=EAGER (a kernel that is loaded while another PE's kernel waits would wait
// for it). run_cuda calls it too; call it before anything that calls CUDA, why_unavailable
// included.
void prepare_environment(int pes, int gpus);

// - Started by torchrun, mpirun, srun or spawn_pes: this process is one PE; `pes` must be its job's
//   size, or 0.
// - Else pes > 1 and gpus >= pes: starts `pes` processes of this program with the same arguments,
// each
//   of which comes here again; returns the first failing one's exit status. So call it with the
//   same arguments in every process, and print only where world.pe() == 0.
// - Else: `pes` threads on GPU 0.
// Returns 0; errors of a program that ran in this process are thrown on (the first one, of
// threads).
int run_cuda(int pes, int gpus, const std::function<void(CudaWorld&)>& program);

}  // namespace sym::cuda
