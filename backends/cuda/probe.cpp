#include "backends/cuda/probe.hpp"

#include <cuda_runtime_api.h>
#include <nccl.h>

#include <fstream>

#include "backends/cuda/cuda_check.hpp"

namespace sym::cuda {

namespace {

constexpr int least_driver = 12040;
constexpr int least_nccl = 22800;
constexpr int least_capability = 8;  // conversions of bf16 pairs, L1 hints, system-scope atomics

std::string dotted(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::string why_no_peer_access(int gpus) {
  for (int from = 0; from < gpus; ++from) {
    for (int to = 0; to < gpus; ++to) {
      int can = 1;
      if (from != to && (cudaDeviceCanAccessPeer(&can, from, to) != cudaSuccess || can == 0)) {
        return "GPU " + std::to_string(from) + " cannot address the memory of GPU " +
               std::to_string(to) + " (no peer access): use PEs that share one GPU (--gpus 1)";
      }
    }
  }
  return "";
}

}  // namespace

int gpu_count() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) {
    (void)cudaGetLastError();
    return 0;
  }
  return count;
}

DeviceFacts device_facts(int device) {
  cudaDeviceProp properties{};
  SYM_CHECK_CUDA(cudaGetDeviceProperties(&properties, device));
  DeviceFacts facts{properties.name,
                    {},
                    properties.multiProcessorCount,
                    10 * properties.major + properties.minor};
  std::ifstream("/sys/module/nvidia/version") >> facts.driver;
  if (facts.driver.empty()) {  // a container may hide it
    int driver = 0;
    SYM_CHECK_CUDA(cudaDriverGetVersion(&driver));
    facts.driver = "for CUDA " + dotted(driver);
  }
  return facts;
}

std::string why_unavailable(int pes, int gpus) {
  int driver = 0;
  if (cudaDriverGetVersion(&driver) != cudaSuccess || driver == 0)
    return "there is no NVIDIA driver on this machine";
  if (driver < least_driver) {
    return "the NVIDIA driver is for CUDA " + dotted(driver) + "; CUDA " + dotted(least_driver) +
           " or newer is needed";
  }
  const int present = gpu_count();
  if (present == 0) return "CUDA sees no GPU on this machine (is CUDA_VISIBLE_DEVICES empty?)";
  const bool shared = gpus < pes || pes == 1;
  const int used = shared ? 1 : pes;
  if (used > present || gpus > present) {
    return std::to_string(gpus) + " GPUs were asked for and CUDA sees " + std::to_string(present) +
           "; with --gpus 1 several PEs share one";
  }
  for (int device = 0; device < used; ++device) {
    int major = 0;
    if (cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) != cudaSuccess)
      major = 0;
    if (major < least_capability) {
      return "GPU " + std::to_string(device) + " has compute capability " + std::to_string(major) +
             ".x; " + std::to_string(least_capability) + ".0 or newer is needed";
    }
  }
  if (shared) return "";
  int nccl = 0;
  if (ncclGetVersion(&nccl) != ncclSuccess || nccl < least_nccl) {
    return "NCCL is version code " + std::to_string(nccl) +
           "; 2.28 or newer is needed for memory windows";
  }
  return why_no_peer_access(used);
}

}  // namespace sym::cuda
