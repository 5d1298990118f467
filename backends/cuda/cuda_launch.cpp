// CudaWorld's launches.
#include <algorithm>
#include <string>

#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#define SYM_HAS_NVTX 1
#else
#define SYM_HAS_NVTX 0
#endif

#include "backends/cuda/cuda_world_impl.hpp"
#include "backends/cuda/relaxed_capture.hpp"

namespace sym::cuda {

namespace {

// A range on the profilers' timeline, for as long as it lives.
class ProfilerRange {
 public:
#if SYM_HAS_NVTX
  explicit ProfilerRange(const char* name) { nvtxRangePushA(name); }
  ~ProfilerRange() { nvtxRangePop(); }
#else
  explicit ProfilerRange(const char*) {}
  ~ProfilerRange() = default;
#endif
  ProfilerRange(const ProfilerRange&) = delete;
  ProfilerRange& operator=(const ProfilerRange&) = delete;
};

// Whether launches on the device can be set up early: from compute capability 9.0 on.
bool can_begin_early(int device) {
  int major = 0;
  return cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) == cudaSuccess &&
         major >= 9;
}

}  // namespace

CUstream_st* CudaWorld::working_stream(int index) {
  cudaStream_t target = stream(index);
  std::vector<int>& forked = impl_->forked;
  if (impl_->capturing && index != 0 &&
      std::find(forked.begin(), forked.end(), index) == forked.end()) {
    impl_->order_after(target, stream(0));
    forked.push_back(index);
  }
  return target;
}

// Throws UsageError unless a block's scratch fits on an SM and, where PEs share the GPU, all their
// blocks run at once: blocks wait for blocks of other PEs.
void CudaWorld::require_room(const LaunchConfig& config, const void* function) {
  const auto number = [](auto value) { return std::to_string(value); };
  if (config.scratch_bytes > 0) {
    // The most a function may have is asked for once, and is the same for PEs that share a context.
    std::size_t& room = impl_->scratch_room[function];
    if (room == 0) {
      const RelaxedCapture relaxed;  // the function may have to be loaded
      cudaFuncAttributes attributes{};
      int most = 0;
      SYM_CHECK_CUDA(cudaFuncGetAttributes(&attributes, function));
      SYM_CHECK_CUDA(
          cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, share_.device));
      room = static_cast<std::size_t>(most) - attributes.sharedSizeBytes;
      SYM_CHECK_CUDA(cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                          static_cast<int>(room)));
    }
    if (config.scratch_bytes > room) {
      throw UsageError("'" + std::string(config.name) + "' asks for " +
                       number(config.scratch_bytes) + " bytes of scratch a block; this GPU has " +
                       number(room) + " for it");
    }
  }
  if (share_.pes == 1) return;
  int& fit = impl_->resident[{function, config.threads, config.scratch_bytes}];
  if (fit == 0) {
    int per_processor = 0;
    int processors = 0;
    SYM_CHECK_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        &per_processor, function, config.threads, config.scratch_bytes));
    SYM_CHECK_CUDA(
        cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, share_.device));
    fit = per_processor * processors;
  }
  if (share_.pes * config.blocks > fit) {
    throw UsageError(
        "'" + std::string(config.name) + "': " + number(share_.pes) + " PEs with " +
        number(config.blocks) + " blocks each do not fit on one GPU at once; at most " +
        number(fit / share_.pes) + " blocks of " + number(config.threads) + " threads do");
  }
}

void CudaWorld::launch_function(const LaunchConfig& config, const void* function,
                                const void* kernel) {
  throw_if_failed();
  const auto number = [](int value) { return std::to_string(value); };
  if (config.blocks < 1 || config.threads < 32 || config.threads > most_threads ||
      config.threads % 32 != 0) {
    throw UsageError("'" + std::string(config.name) + "' asks for " + number(config.blocks) +
                     " blocks of " + number(config.threads) +
                     " threads: at least 1 block of 32 to 512 threads, whole warps");
  }
  require_room(config, function);
  cudaStream_t target = working_stream(config.stream);
  KernelContext context = impl_->context;
  context.kernel = config.name;
  context.scratch_bytes = config.scratch_bytes;
  void* arguments[2] = {const_cast<void*>(kernel), &context};
  const ProfilerRange range(config.name);
  cudaLaunchConfig_t launch{};
  launch.gridDim = dim3(static_cast<unsigned>(config.blocks));
  launch.blockDim = dim3(static_cast<unsigned>(config.threads));
  launch.dynamicSmemBytes = config.scratch_bytes;
  launch.stream = target;
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  launch.attrs = &early;
  // PEs of one GPU need all its room.
  launch.numAttrs = config.early && share_.pes == 1 && can_begin_early(share_.device) ? 1 : 0;
  SYM_CHECK_CUDA(cudaLaunchKernelExC(&launch, function, arguments));
}

}  // namespace sym::cuda
