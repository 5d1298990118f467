// Which PE this process is, as a launcher told it; and starting processes ourselves. No CUDA in
// here.
#pragma once

#include <optional>
#include <string>

#include "backends/cuda/socket_bootstrap.hpp"

namespace sym::cuda {

// One PE of a job of processes.
struct Placement {
  std::string launcher;  // "torchrun", "mpirun", "srun" or "sym"
  int local_rank = 0;    // among the processes of this host: chooses the GPU
  SocketJob job;
};

// From the environment, or nothing where no launcher started this process:
//   SYM_RANK, SYM_SIZE, SYM_LOCAL_RANK, SYM_ROOT (host:port where PE 0 listens), SYM_TOKEN
//   torchrun: RANK, WORLD_SIZE, LOCAL_RANK; PE 0 listens on port MASTER_PORT + 1
//   mpirun:   OMPI_COMM_WORLD_RANK, _SIZE, _LOCAL_RANK;  srun: SLURM_PROCID, SLURM_NTASKS,
//   SLURM_LOCALID;
//             for both, SYM_ROOT, or else a port that follows from the job's id
// Jobs of one process are taken as not launched, except through SYM_RANK.
// PE 0 listens on, and the others connect to, 127.0.0.1, or SYM_BOOTSTRAP_ADDR where PEs are on
// several hosts. SYM_BOOTSTRAP_S (default 60; 0: none) limits every meeting. Throws UsageError for
// half-set variables.
std::optional<Placement> placement_from_environment();

// SYM_BOOTSTRAP_S, default 60.
double bootstrap_deadline_s();

// True in a process that spawn_pes started.
bool is_child();

// Runs /proc/self/exe once for each PE, with these arguments and SYM_* set, and waits for all. Only
// PE 0 keeps stdout. The children die with this process. Returns 0, or the exit status of the first
// child that failed (128 + signal if it was killed); the others get `grace_s` seconds and are then
// ended. No CUDA call is needed before it and none is made.
int spawn_pes(int pes, char** argv, double grace_s = 10);

}  // namespace sym::cuda
