#include "backends/cuda/runner.hpp"

#include <cstdlib>
#include <exception>
#include <fstream>
#include <iterator>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "backends/cuda/cuda_check.hpp"
#include "backends/cuda/heap.hpp"
#include "backends/cuda/thread_bootstrap.hpp"
#include "core/debug.hpp"

namespace sym::cuda {

namespace {

using Program = std::function<void(CudaWorld&)>;

// This process' arguments, kept for its whole life.
char** own_arguments() {
  static std::vector<std::string> texts;
  static std::vector<char*> pointers;
  if (pointers.empty()) {
    std::ifstream file("/proc/self/cmdline", std::ios::binary);
    const std::string all((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    for (std::size_t at = 0; at < all.size();) {
      texts.push_back(all.substr(at, all.find('\0', at) - at));
      at += texts.back().size() + 1;
    }
    for (std::string& text : texts) pointers.push_back(text.data());
    pointers.push_back(nullptr);
  }
  return pointers.data();
}

int device_for(const Placement& placement) {
  int devices = 0;
  SYM_CHECK_CUDA(cudaGetDeviceCount(&devices));
  if (placement.local_rank < devices) return placement.local_rank;
  if (devices == 1) return 0;  // each process sees its own GPU alone
  throw Unavailable("this host's PE " + std::to_string(placement.local_rank) +
                    " has no GPU: CUDA sees " + std::to_string(devices));
}

void run_as_pe(const Placement& placement, int pes, const Program& program) {
  if (pes != 0 && pes != placement.job.n_pes) {
    throw UsageError(placement.launcher + " started " + std::to_string(placement.job.n_pes) +
                     " PEs, " + std::to_string(pes) + " were asked for");
  }
  const int device = device_for(placement);
  SYM_CHECK_CUDA(cudaSetDevice(device));
  SocketBootstrap bootstrap(placement.job);
  CudaWorld world(bootstrap, make_nccl_heap(bootstrap, wanted_heap_bytes(1)),
                  DeviceShare{device, 1});
  program(world);
}

void run_threads(int pes, const Program& program) {
  constexpr int device = 0;
  SYM_CHECK_CUDA(cudaSetDevice(device));
  const LocalArena arena(device, pes, wanted_heap_bytes(pes));
  ThreadMeeting meeting(pes, bootstrap_deadline_s());
  std::mutex mutex;
  std::exception_ptr first;
  const auto body = [&](int pe) {
    try {
      ThreadBootstrap bootstrap(meeting, pe);
      CudaWorld world(bootstrap, arena.heap(pe), DeviceShare{device, pes});
      program(world);
    } catch (const std::exception& error) {
      {
        const std::lock_guard<std::mutex> lock(mutex);
        if (first == nullptr) first = std::current_exception();
      }
      meeting.abandon("PE " + std::to_string(pe) + " ended with an error: " + error.what());
    }
  };
  std::vector<std::thread> threads;
  for (int pe = 0; pe < pes; ++pe) threads.emplace_back(body, pe);
  for (std::thread& thread : threads) thread.join();
  if (first != nullptr) std::rethrow_exception(first);
}

}  // namespace

void prepare_environment(int pes, int gpus) {
  keep_multicast_off();
  // A hardware queue for each stream: in a shared one, a stream that waits for a peer would hold up
  // the stream that the peer waits for.
  constexpr int wanted = 32;  // the most there are
  const char* given = std::getenv("CUDA_DEVICE_MAX_CONNECTIONS");
  if (given == nullptr || std::atoi(given) < wanted) {
    if (given != nullptr) {
      debug_info("CUDA_DEVICE_MAX_CONNECTIONS=" + std::string(given) +
                 " is too few for streams that wait for each other; 32 is set");
    }
    setenv("CUDA_DEVICE_MAX_CONNECTIONS", std::to_string(wanted).c_str(), 1);
  }
  if (pes == 1 || gpus >= pes) return;
  setenv("CUDA_MODULE_LOADING", "EAGER", 0);
}

int run_cuda(int pes, int gpus, const Program& program) {
  prepare_environment(pes, gpus);
  if (const std::optional<Placement> placement = placement_from_environment()) {
    run_as_pe(*placement, pes, program);
    return 0;
  }
  if (pes < 1) throw UsageError("cannot run " + std::to_string(pes) + " PEs");
  if (pes > 1 && gpus >= pes) return spawn_pes(pes, own_arguments());
  run_threads(pes, program);
  return 0;
}

}  // namespace sym::cuda
