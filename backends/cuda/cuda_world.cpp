#include <algorithm>
#include <cstdlib>
#include <exception>
#include <map>
#include <new>
#include <utility>

#include "backends/cuda/cuda_check.hpp"
#include "backends/cuda/cuda_world_impl.hpp"
#include "backends/cuda/gemm_plain.hpp"
#include "backends/cuda/queue_flags.hpp"
#include "core/debug.hpp"

namespace sym::cuda {

namespace {

double wait_limit_from_environment_ms() {
  const char* text = std::getenv("SYM_WAIT_MS");
  if (text == nullptr) return 10000;
  char* end = nullptr;
  const double value = std::strtod(text, &end);
  if (end == text || *end != 0 || !(value >= 0)) {
    throw UsageError("SYM_WAIT_MS='" + std::string(text) +
                     "' is no time: give milliseconds, or 0 for no limit");
  }
  return value;
}

}  // namespace

void CudaWorld::Impl::make_list_page(std::size_t at_least) {
  constexpr std::size_t page = 4096;  // members
  list_room = std::max(page, at_least);
  list_used = 0;
  void* list = nullptr;
  SYM_CHECK_CUDA(
      cudaHostAlloc(&list, list_room * sizeof(int), cudaHostAllocMapped | cudaHostAllocPortable));
  member_lists.push_back(static_cast<int*>(list));
}

void CudaWorld::Impl::destroy_device_objects() noexcept {
  if (capturing && !streams.empty()) {
    cudaGraph_t graph = nullptr;
    (void)cudaStreamEndCapture(streams[0], &graph);
    if (graph != nullptr) (void)cudaGraphDestroy(graph);
  }
  for (cudaStream_t stream : streams) (void)cudaStreamSynchronize(stream);
  for (const Graph& graph : graphs) {
    (void)cudaGraphExecDestroy(graph.exec);
    (void)cudaGraphDestroy(graph.graph);
  }
  gemm_plans.clear();
  event_marks.destroy();
  for (cudaEvent_t mark : marks) {
    if (mark != nullptr) (void)cudaEventDestroy(mark);
  }
  for (void* local : locals) (void)cudaFreeAsync(local, streams[0]);
  for (cudaStream_t stream : streams) {
    (void)cudaStreamSynchronize(stream);
    (void)cudaStreamDestroy(stream);
  }
  (void)cudaGetLastError();
}

CudaWorld::CudaWorld(Bootstrap& bootstrap, std::unique_ptr<Heap> heap, DeviceShare share)
    : bootstrap_(bootstrap),
      share_(share),
      own_(heap->own()),
      impl_(std::make_unique<Impl>(std::move(heap))) {
  SYM_CHECK_CUDA(cudaSetDevice(share_.device));
  void* record = nullptr;
  SYM_CHECK_CUDA(
      cudaHostAlloc(&record, sizeof(FailureRecord), cudaHostAllocMapped | cudaHostAllocPortable));
  impl_->record = new (record) FailureRecord();
  void* device_record = nullptr;
  SYM_CHECK_CUDA(cudaHostGetDevicePointer(&device_record, record, 0));
  KernelContext& context = impl_->context;
  context.base = impl_->heap->base();
  context.pitch_bytes = impl_->heap->pitch_bytes();
  context.own = context.base + static_cast<std::size_t>(pe()) * context.pitch_bytes;
  context.pe = pe();
  context.n_pes = n_pes();
  context.record = static_cast<FailureRecord*>(device_record);
  context.failed = static_cast<std::uint32_t*>(local_bytes(sizeof(std::uint32_t)));
  impl_->make_list_page(0);
  set_wait_limit_ms(wait_limit_from_environment_ms());
  for (cudaEvent_t& mark : impl_->marks) SYM_CHECK_CUDA(cudaEventCreate(&mark));
  SYM_CHECK_CUDA(cudaEventRecord(impl_->marks[0], stream(0)));
  debug_info("PE " + std::to_string(pe()) + " of " + std::to_string(n_pes()) + " on GPU " +
             std::to_string(share_.device) + ", shared by " + std::to_string(share_.pes) +
             "; heap of " + std::to_string(impl_->heap->size_bytes() >> 20) + " MiB");
  bootstrap_.barrier();
}

CudaWorld::~CudaWorld() {
  (void)cudaSetDevice(share_.device);
  impl_->destroy_device_objects();
  if (std::uncaught_exceptions() == 0) {
    try {
      bootstrap_.barrier();  // nobody's kernel reads this heap any more
    } catch (const std::exception&) {
      // The others ended with an error, which they report; there is nobody left to protect.
    }
  }
  for (int* list : impl_->member_lists) (void)cudaFreeHost(list);
  (void)cudaFreeHost(impl_->record);
}

CUstream_st* CudaWorld::stream(int index) {
  if (index < 0 || index > 63)
    throw UsageError("stream " + std::to_string(index) + ": streams are 0 to 63");
  // Non-blocking: PEs that share a GPU must not meet on its default stream.
  while (static_cast<int>(impl_->streams.size()) <= index) {
    cudaStream_t stream = nullptr;
    SYM_CHECK_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    impl_->streams.push_back(stream);
  }
  return impl_->streams[static_cast<std::size_t>(index)];
}

Team CudaWorld::team(const std::vector<int>& members) {
  const int size = static_cast<int>(members.size());
  if (size == 0) throw UsageError("a team needs at least one member");
  const int stride = size > 1 ? members[1] - members[0] : 1;
  bool even = stride >= 1;
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (members[i] < 0 || members[i] >= n_pes()) {
      throw UsageError("a team member is PE " + std::to_string(members[i]) + " of " +
                       std::to_string(n_pes()));
    }
    if (std::count(members.begin(), members.end(), members[i]) > 1) {
      throw UsageError("a team has PE " + std::to_string(members[i]) + " as a member twice");
    }
    even = even && members[i] == members[0] + static_cast<int>(i) * stride;
  }
  if (even) return Team::strided(pe(), members[0], stride, size);
  // Making pinned memory may wait for the whole device: the first page is made with the World.
  if (members.size() > impl_->list_room) impl_->make_list_page(members.size());
  int* list = impl_->member_lists.back() + impl_->list_used;
  std::copy(members.begin(), members.end(), list);
  impl_->list_used += members.size();
  impl_->list_room -= members.size();
  return Team::listed(pe(), list, size);
}

void CudaWorld::refuse_in_capture(const char* what) const {
  if (impl_->capturing)
    throw UsageError(std::string(what) + " cannot be captured: call end_capture() first");
}

// This PE's launches have ended, failed or not.
void CudaWorld::quiesce(const char* what) {
  refuse_in_capture(what);
  for (cudaStream_t each : impl_->streams) SYM_CHECK_CUDA(cudaStreamSynchronize(each));
  impl_->event_marks.all_done();
}

std::size_t CudaWorld::allocate_bytes(Segment segment, std::size_t bytes) {
  quiesce("allocate");
  const std::size_t offset = impl_->space.allocate(bytes);
  const std::string kind = segment == Segment::control ? "allocate_control" : "allocate";
  require_equal(bootstrap_, kind, std::to_string(bytes) + " bytes");
  if (offset == SubAllocator::none) {
    throw UsageError("the heap is full: " + std::to_string(bytes) + " bytes wanted, largest gap " +
                     std::to_string(impl_->space.largest_gap_bytes()) + " of " +
                     std::to_string(impl_->space.size_bytes()) +
                     "; set SYM_HEAP (such as SYM_HEAP=8G)");
  }
  SYM_CHECK_CUDA(cudaMemsetAsync(own_ + offset, 0, bytes, stream(0)));
  SYM_CHECK_CUDA(cudaStreamSynchronize(stream(0)));
  bootstrap_.barrier();
  return offset;
}

void CudaWorld::free_bytes(std::size_t offset_bytes) {
  quiesce("free");
  require_equal(bootstrap_, "free", "offset " + std::to_string(offset_bytes));
  if (!impl_->space.free(offset_bytes))
    throw UsageError("free of a window that is not allocated (or a part of one)");
  // recover() must not clear what the next owner of the memory has there.
  std::erase_if(impl_->channels, [&](const auto& one) { return one.first == offset_bytes; });
}

// Stream-ordered allocation: cudaMalloc and cudaFree may wait for the whole device, so for the
// kernels of other PEs on it, which wait for ours.
void* CudaWorld::local_bytes(std::size_t bytes) {
  refuse_in_capture("local");
  void* memory = nullptr;
  const std::size_t size = std::max<std::size_t>(bytes, 16);
  SYM_CHECK_CUDA(cudaMallocAsync(&memory, size, stream(0)));
  impl_->locals.push_back(memory);
  SYM_CHECK_CUDA(cudaMemsetAsync(memory, 0, size, stream(0)));
  SYM_CHECK_CUDA(cudaStreamSynchronize(stream(0)));
  return memory;
}

Channel CudaWorld::channel(const ChannelRequest& request) {
  if (request.blocks < 1) throw UsageError("a channel needs at least one block");
  const std::size_t blocks = static_cast<std::size_t>(request.blocks);
  const std::size_t table = blocks * static_cast<std::size_t>(n_pes());
  const bool inbox = request.packet_bytes > 0;
  constexpr std::size_t most_bytes = std::size_t{1} << 30;  // kernels count them in 32 bits
  if (request.packet_bytes > most_bytes) {
    throw UsageError("a channel for messages of " + std::to_string(request.packet_bytes) +
                     " bytes of packets; at most " + std::to_string(most_bytes) + " are accepted");
  }
  const std::size_t words = (inbox ? 9 : 6) * table + blocks;
  std::size_t next = allocate_bytes(Segment::control, words * sizeof(std::uint64_t));
  impl_->channels.emplace_back(next, words * sizeof(std::uint64_t));
  const auto take = [&next](std::size_t count) {
    const Window<std::uint64_t> window{Segment::control, next, count};
    next += count * sizeof(std::uint64_t);
    return window;
  };
  const auto signals = [&](bool tagged) {
    Signals table_of;
    table_of.words = take(table);
    table_of.sent = take(table);
    table_of.seen = take(table);
    table_of.slots = blocks;
    table_of.lanes = n_pes();
    table_of.tagged = tagged;
    return table_of;
  };
  Channel channel;
  channel.barriers = signals(true);
  channel.steps = signals(false);
  channel.busy = take(blocks);
  channel.blocks = request.blocks;
  if (inbox) {
    channel.inbox.lanes = signals(true);
    channel.inbox.capacity_bytes = (request.packet_bytes + 15) / 16 * 16;
    const std::size_t bytes = table * 2 * channel.inbox.message_bytes();
    channel.inbox.cells = allocate<std::uint64_t>(bytes / sizeof(std::uint64_t));
    impl_->channels.emplace_back(channel.inbox.cells.offset_bytes,
                                 bytes);  // recover() clears flags too
  }
  return channel;
}

Posts CudaWorld::posts(std::size_t slots) {
  refuse_in_capture("posts");
  Posts posts;
  posts.slots = slots;
  posts.lanes = n_pes();
  const std::size_t lanes = static_cast<std::size_t>(n_pes());
  if (slots > std::numeric_limits<std::size_t>::max() / lanes)
    throw UsageError("more flags than memory has bytes");
  // What the queues' own operations run is loaded before anybody can wait for a flag.
  load_flag_kernels();
  load_plain_products();
  if (share_.pes > 1) load_products();
  posts.words = allocate_control<std::uint64_t>(slots * lanes);
  impl_->channels.emplace_back(posts.words.offset_bytes, posts.words.count * sizeof(std::uint64_t));
  return posts;
}

CudaQueue& CudaWorld::queue(int number) {
  (void)stream(number);  // refuses numbers that are none
  std::unique_ptr<CudaQueue>& queue = impl_->queues[number];
  if (queue == nullptr) queue = std::make_unique<CudaQueue>(*this, number);
  return *queue;
}

// Copies of ordinary host memory wait for the stream inside the driver, with the context locked:
// other PEs of this process could not launch the kernels that ours wait for. So the stream is
// waited for before, where nothing is locked.
void CudaWorld::copy_in(void* device, const void* host, std::size_t bytes) {
  refuse_in_capture("write");
  SYM_CHECK_CUDA(cudaStreamSynchronize(stream(0)));
  SYM_CHECK_CUDA(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, stream(0)));
  SYM_CHECK_CUDA(cudaStreamSynchronize(stream(0)));
}

void CudaWorld::copy_out(void* host, const void* device, std::size_t bytes) {
  refuse_in_capture("read");
  SYM_CHECK_CUDA(cudaStreamSynchronize(stream(0)));
  SYM_CHECK_CUDA(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, stream(0)));
  SYM_CHECK_CUDA(cudaStreamSynchronize(stream(0)));
}

bool CudaWorld::failed() const {
  return *const_cast<const volatile FailureKind*>(&impl_->record->kind) != FailureKind::none;
}

void CudaWorld::throw_if_failed() const {
  if (failed())
    throw Failure(verdict(*impl_->record, impl_->wait_limit_ms) +
                  "; nothing launches until recover()");
}

void CudaWorld::set_wait_limit_ms(double limit_ms) {
  impl_->wait_limit_ms = limit_ms;
  impl_->context.wait_limit_ns = static_cast<std::uint64_t>(limit_ms * 1e6);
}

void CudaWorld::synchronize() {
  quiesce("synchronize");
  throw_if_failed();
}

void CudaWorld::recover() {
  quiesce("recover");
  require_equal(bootstrap_, "call", "recover");  // and so every PE's kernels have ended
  for (const auto& [offset, bytes] : impl_->channels) {
    SYM_CHECK_CUDA(cudaMemsetAsync(own_ + offset, 0, bytes, stream(0)));
  }
  SYM_CHECK_CUDA(cudaMemsetAsync(impl_->context.failed, 0, sizeof(std::uint32_t), stream(0)));
  SYM_CHECK_CUDA(cudaStreamSynchronize(stream(0)));
  *impl_->record = FailureRecord();
  bootstrap_.barrier();
}

}  // namespace sym::cuda
