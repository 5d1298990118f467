#include "backends/cuda/nccl_baseline.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <functional>
#include <utility>

#include "backends/cuda/cuda_check.hpp"
#include "backends/cuda/heap.hpp"
#include "backends/cuda/nccl_names.hpp"
#include "backends/cuda/rms_norm_plain.hpp"

namespace sym::cuda {

struct NcclBaseline::Call : NcclCall {
  Norm norm{};
  std::string norm_type{};
};

namespace {

struct Side {
  ncclComm_t comm = nullptr;
  char* in = nullptr;
  char* out = nullptr;
};

// Buffers are zero and stay it, so that no sum of many calls overflows.
void enqueue_norm(const NcclBaseline::Norm& norm, const std::string& type, const Side& side,
                  cudaStream_t stream) {
  if (norm.rows == 0) return;
  PlainNorm plain{norm.rows, norm.hidden, side.out, side.out, nullptr, side.in, side.in};
  if (norm.residual) plain.residual = side.in;
  rms_norm_plain(plain, type, stream);
}
template <class Call>
void enqueue(const Call& call, const Side& side, cudaStream_t stream) {
  nccl_enqueue(call, side.in, side.out, side.comm, stream);
  enqueue_norm(call.norm, call.norm_type, side, stream);
}

BaselineEffort chosen(BaselineEffort effort, std::size_t bytes) {
  const bool large = bytes > (std::size_t{16} << 20);
  if (effort.calls_per_graph <= 0) effort.calls_per_graph = large ? 5 : 20;
  if (effort.replays <= 0) effort.replays = large ? 2 : 10;
  effort.repetitions = std::max(1, effort.repetitions);
  return effort;
}

// Median time of one of `calls` calls that `work` enqueues. An unmeasured round lets the PEs meet.
double median_us(cudaStream_t stream, int repetitions, int calls, const std::function<void()>& meet,
                 const std::function<void()>& work) {
  cudaEvent_t begin = nullptr;
  cudaEvent_t end = nullptr;
  SYM_CHECK_CUDA(cudaEventCreate(&begin));
  SYM_CHECK_CUDA(cudaEventCreate(&end));
  std::vector<double> times;
  for (int i = 0; i < repetitions; ++i) {
    meet();
    SYM_CHECK_CUDA(cudaEventRecord(begin, stream));
    work();
    SYM_CHECK_CUDA(cudaEventRecord(end, stream));
    SYM_CHECK_CUDA(cudaStreamSynchronize(stream));
    float elapsed_ms = 0;
    SYM_CHECK_CUDA(cudaEventElapsedTime(&elapsed_ms, begin, end));
    times.push_back(1e3 * static_cast<double>(elapsed_ms) / calls);
  }
  SYM_CHECK_CUDA(cudaEventDestroy(begin));
  SYM_CHECK_CUDA(cudaEventDestroy(end));
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

template <class Call>
double eager_us(const Call& call, const Side& side, cudaStream_t stream,
                const BaselineEffort& effort) {
  const int calls = effort.calls_per_graph * effort.replays;
  return median_us(
      stream, effort.repetitions, calls, [&] { enqueue(call, side, stream); },
      [&] {
        for (int i = 0; i < calls; ++i) enqueue(call, side, stream);
      });
}

template <class Call>
double graph_us(const Call& call, const Side& side, cudaStream_t stream,
                const BaselineEffort& effort) {
  cudaGraph_t graph = nullptr;
  SYM_CHECK_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  try {
    for (int i = 0; i < effort.calls_per_graph; ++i) enqueue(call, side, stream);
  } catch (...) {
    (void)cudaStreamEndCapture(stream, &graph);
    if (graph != nullptr) (void)cudaGraphDestroy(graph);
    throw;
  }
  SYM_CHECK_CUDA(cudaStreamEndCapture(stream, &graph));
  cudaGraphExec_t exec = nullptr;
  SYM_CHECK_CUDA(cudaGraphInstantiate(&exec, graph, 0));
  const auto replay = [&] { SYM_CHECK_CUDA(cudaGraphLaunch(exec, stream)); };
  replay();
  SYM_CHECK_CUDA(cudaStreamSynchronize(stream));
  const double us =
      median_us(stream, effort.repetitions, effort.calls_per_graph * effort.replays, replay, [&] {
        for (int i = 0; i < effort.replays; ++i) replay();
      });
  SYM_CHECK_CUDA(cudaGraphExecDestroy(exec));
  SYM_CHECK_CUDA(cudaGraphDestroy(graph));
  return us;
}

}  // namespace

struct NcclBaseline::Impl {
  explicit Impl(CudaWorld& world_) : world(world_) {}

  CudaWorld& world;
  std::size_t room_bytes = 0;
  cudaStream_t stream = nullptr;
  Side plain;
  Side symmetric;  // on the plain communicator
  Side zero;       // a communicator that prefers copy engines; comm is null where NCCL has none
  std::vector<std::pair<ncclComm_t, ncclWindow_t>> windows;

  ncclComm_t connect(bool zero_cta) {
    Bootstrap& bootstrap = world.bootstrap();
    ncclUniqueId id{};
    if (world.pe() == 0) SYM_CHECK_NCCL(ncclGetUniqueId(&id));
    const std::string theirs =
        bootstrap.all_gather(std::string(id.internal, sizeof(id.internal)))[0];
    std::memcpy(id.internal, theirs.data(), std::min(theirs.size(), sizeof(id.internal)));
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    if (zero_cta) config.CTAPolicy = NCCL_CTA_POLICY_ZERO;
    ncclComm_t comm = nullptr;
    SYM_CHECK_NCCL(ncclCommInitRankConfig(&comm, world.n_pes(), id, world.pe(), &config));
    return comm;
  }

  void add_window(Side& side, ncclComm_t comm) {
    side.comm = comm;
    void* memory = nullptr;
    SYM_CHECK_NCCL(ncclMemAlloc(&memory, 2 * room_bytes));
    side.in = static_cast<char*>(memory);
    side.out = side.in + room_bytes;
    SYM_CHECK_CUDA(cudaMemsetAsync(side.in, 0, 2 * room_bytes, stream));
    SYM_CHECK_CUDA(cudaStreamSynchronize(stream));
    ncclWindow_t window = nullptr;
    SYM_CHECK_NCCL(
        ncclCommWindowRegister(comm, side.in, 2 * room_bytes, &window, NCCL_WIN_COLL_SYMMETRIC));
    windows.emplace_back(comm, window);
  }

  void release() noexcept {
    const bool abandoned = std::uncaught_exceptions() > 0;
    if (stream != nullptr) (void)cudaStreamSynchronize(stream);
    for (const auto& [comm, window] : windows) {
      if (window != nullptr && !abandoned) (void)ncclCommWindowDeregister(comm, window);
    }
    for (ncclComm_t comm : {plain.comm, zero.comm}) {
      if (comm != nullptr) (void)(abandoned ? ncclCommAbort(comm) : ncclCommDestroy(comm));
    }
    for (char* memory : {symmetric.in, zero.in}) {
      if (memory != nullptr) (void)ncclMemFree(memory);
    }
    (void)cudaFree(plain.in);
    if (stream != nullptr) (void)cudaStreamDestroy(stream);
    (void)cudaGetLastError();
  }
};

NcclBaseline::NcclBaseline(CudaWorld& world, std::size_t largest_bytes)
    : impl_(std::make_unique<Impl>(world)) {
  if (world.share().pes > 1 && world.n_pes() > 1) {
    throw Unavailable("the NCCL baseline needs a GPU for each PE: NCCL refuses PEs that share one");
  }
  keep_multicast_off();
  Impl& impl = *impl_;
  constexpr std::size_t page = std::size_t{2} << 20;
  impl.room_bytes = (largest_bytes + page - 1) / page * page;
  try {
    SYM_CHECK_CUDA(cudaStreamCreateWithFlags(&impl.stream, cudaStreamNonBlocking));
    void* memory = nullptr;
    SYM_CHECK_CUDA(cudaMalloc(&memory, 2 * impl.room_bytes));
    impl.plain.in = static_cast<char*>(memory);
    impl.plain.out = impl.plain.in + impl.room_bytes;
    SYM_CHECK_CUDA(cudaMemsetAsync(memory, 0, 2 * impl.room_bytes, impl.stream));
    impl.plain.comm = impl.connect(false);
    impl.add_window(impl.symmetric, impl.plain.comm);
    impl.add_window(impl.zero, impl.connect(true));
  } catch (...) {
    impl.release();
    throw;
  }
}

NcclBaseline::~NcclBaseline() { impl_->release(); }

BaselineResult NcclBaseline::time(const std::string& call_name, std::size_t bytes,
                                  const std::string& type, const std::string& op,
                                  BaselineEffort wanted) {
  Impl& impl = *impl_;
  const std::size_t parts =
      nccl_call_has_parts(call_name) ? static_cast<std::size_t>(impl.world.n_pes()) : 1;
  const Call call{{call_name, bytes / nccl_type_bytes(type) / parts, nccl_type(type), nccl_op(op)}};
  return time_call(call, bytes, wanted);
}

BaselineResult NcclBaseline::time_rms_norm(const Norm& norm, const std::string& type,
                                           BaselineEffort wanted) {
  const std::size_t count = norm.rows * norm.hidden;
  const Call call{{"all_reduce", count, nccl_type(type), ncclSum}, norm, type};
  return time_call(call, std::max(count, norm.hidden) * nccl_type_bytes(type), wanted);
}

BaselineResult NcclBaseline::time_call(const Call& call, std::size_t bytes, BaselineEffort wanted) {
  Impl& impl = *impl_;
  if (bytes > impl.room_bytes)
    throw UsageError("NCCL baseline: " + std::to_string(bytes) + " bytes do not fit its buffers");
  const BaselineEffort effort = chosen(wanted, bytes);
  BaselineResult result;
  const auto measure = [&](const char* variant, const Side& side, bool in_graph) {
    for (int i = 0; i < 3; ++i) enqueue(call, side, impl.stream);  // connects, loads, warms
    SYM_CHECK_CUDA(cudaStreamSynchronize(impl.stream));
    double us = in_graph ? graph_us(call, side, impl.stream, effort)
                         : eager_us(call, side, impl.stream, effort);
    for (const std::string& theirs : impl.world.bootstrap().all_gather(std::to_string(us)))
      us = std::max(us, std::stod(theirs));
    result.times.push_back(BaselineTime{variant, us, in_graph});
  };
  measure("plain", impl.plain, true);
  measure("symmetric", impl.symmetric, true);
  // Copy-engine collectives move data only, and 2.28 does not capture them.
  if (call.name == "all_gather" || call.name == "all_to_all") measure("zero-CTA", impl.zero, false);
  const auto best =
      std::min_element(result.times.begin(), result.times.end(),
                       [](const BaselineTime& a, const BaselineTime& b) { return a.us < b.us; });
  result.best = best->variant;
  result.best_us = best->us;
  return result;
}

}  // namespace sym::cuda
