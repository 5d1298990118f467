#include "backends/cuda/placement.hpp"

#include <cstdint>
#include <cstdlib>

#include "core/error.hpp"

namespace sym::cuda {

namespace {

std::string text_of(const char* name, const std::string& fallback = "") {
  const char* value = std::getenv(name);
  return value != nullptr ? value : fallback;
}

int number_of(const std::string& name) {
  const std::string text = text_of(name.c_str());
  char* end = nullptr;
  const long value = std::strtol(text.c_str(), &end, 10);
  if (text.empty() || *end != 0 || value < 0 || value > 1000000) {
    throw UsageError("the launcher's variable " + name + "='" + text + "' is no whole number");
  }
  return static_cast<int>(value);
}

struct Launcher {
  const char* name;
  const char* rank;
  const char* size;
  const char* local_rank;
  const char* job_id;
};
constexpr Launcher launchers[] = {
    {"sym", "SYM_RANK", "SYM_SIZE", "SYM_LOCAL_RANK", "SYM_TOKEN"},
    {"torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK", "TORCHELASTIC_RUN_ID"},
    {"mpirun", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
     "PMIX_NAMESPACE"},
    {"srun", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", "SLURM_JOB_ID"},
};

bool set(const char* name) { return std::getenv(name) != nullptr; }

SocketAddress parse_address(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  const int port = colon == std::string::npos ? 0 : std::atoi(text.c_str() + colon + 1);
  if (colon == 0 || port < 1 || port > 65535) {
    throw UsageError("SYM_ROOT='" + text + "' is no address: give host:port");
  }
  return SocketAddress{text.substr(0, colon), port};
}

SocketAddress root_address(const Launcher& launcher, const std::string& job_id) {
  const std::string root = text_of("SYM_ROOT");
  if (!root.empty()) return parse_address(root);
  SocketAddress address{text_of("SYM_BOOTSTRAP_ADDR", "127.0.0.1"), 0};
  if (std::string(launcher.name) == "torchrun") {
    address.port = number_of("MASTER_PORT") + 1;
  } else if (!job_id.empty()) {
    std::uint32_t hash = 2166136261U;
    for (const char c : job_id) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
    address.port =
        20000 + static_cast<int>(hash % 12000U);  // below the ports that systems hand out
  } else {
    throw UsageError(std::string(launcher.name) +
                     " tells no job id: set SYM_ROOT=host:port to where PE 0 may listen");
  }
  return address;
}

}  // namespace

double bootstrap_deadline_s() {
  const std::string text = text_of("SYM_BOOTSTRAP_S", "60");
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || *end != 0 || !(value >= 0)) {
    throw UsageError("SYM_BOOTSTRAP_S='" + text + "' is no time: give seconds, or 0 for no limit");
  }
  return value;
}

std::optional<Placement> placement_from_environment() {
  for (const Launcher& launcher : launchers) {
    const bool ours = launcher.rank == launchers[0].rank;
    if (!set(launcher.rank) || !set(launcher.size)) continue;
    Placement placement;
    placement.launcher = launcher.name;
    placement.job.pe = number_of(launcher.rank);
    placement.job.n_pes = number_of(launcher.size);
    if (placement.job.n_pes <= 1 && !ours) continue;
    placement.local_rank =
        set(launcher.local_rank) ? number_of(launcher.local_rank) : placement.job.pe;
    std::string job_id = text_of(launcher.job_id);
    if (std::string(launcher.name) == "srun")
      job_id.append(1, '.').append(text_of("SLURM_STEP_ID"));
    placement.job.token = text_of("SYM_TOKEN", job_id);
    placement.job.root = root_address(launcher, job_id);
    placement.job.deadline_s = bootstrap_deadline_s();
    if (ours && placement.job.pe == 0 && set("SYM_LISTEN_FD")) {
      placement.job.listen_fd = number_of("SYM_LISTEN_FD");
      unsetenv(
          "SYM_LISTEN_FD");  // good for one meeting; a later one listens at the same address itself
    }
    return placement;
  }
  return std::nullopt;
}

bool is_child() { return set("SYM_SPAWNED"); }

}  // namespace sym::cuda
