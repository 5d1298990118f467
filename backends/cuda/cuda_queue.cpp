#include "backends/cuda/cuda_queue.hpp"

#include <cuda.h>

#include <limits>
#include <string>

#include "backends/cuda/cuda_world_impl.hpp"
#include "backends/cuda/queue_flags.hpp"

namespace sym::cuda {

CudaQueue::CudaQueue(CudaWorld& world, int number) : world_(world), number_(number) {}

int CudaQueue::pe() const { return world_.pe(); }
int CudaQueue::n_pes() const { return world_.n_pes(); }

void CudaQueue::require_no_capture(const char* what) const { world_.refuse_in_capture(what); }

void CudaQueue::require_pe(const char* verb, int pe) const {
  if (pe >= 0 && pe < n_pes()) return;
  throw UsageError(std::string(verb) + ": PE " + std::to_string(pe) + " is no PE of 0.." +
                   std::to_string(n_pes() - 1));
}

char* CudaQueue::address(const char* verb, const Area& area) const {
  require_pe(verb, area.pe);
  const auto number = [](std::size_t value) { return std::to_string(value); };
  if (area.pitch_bytes < area.row_bytes || area.span > area.count) {
    throw UsageError(std::string(verb) + ": a matrix of " + number(area.rows) + " rows of " +
                     number(area.row_bytes) + " bytes, " + number(area.pitch_bytes) +
                     " from row to row, in a window of " + number(area.count * area.element_bytes));
  }
  const Heap& heap = *world_.impl_->heap;
  const std::size_t most = heap.size_bytes();
  if (area.offset_bytes > most || area.span > (most - area.offset_bytes) / area.element_bytes) {
    throw UsageError(std::string(verb) + ": byte " + number(area.offset_bytes) + " and " +
                     number(area.span) + " elements on are not within the heap of " + number(most) +
                     " bytes");
  }
  char* const start = area.pe == pe()
                          ? heap.own()
                          : heap.base() + static_cast<std::size_t>(area.pe) * heap.pitch_bytes();
  return start + area.offset_bytes;
}

// Peers' memory is mapped here, so a copy to or from it is a copy within the device's address
// space, which the copy engine makes and a graph can hold.
void CudaQueue::copy(const char* verb, const Area& dst, const Area& src) {
  if (dst.rows != src.rows || dst.row_bytes != src.row_bytes) {
    const auto shape = [](const Area& area) {
      return std::to_string(area.rows) + " x " +
             std::to_string(area.row_bytes / area.element_bytes);
    };
    throw UsageError(std::string(verb) + ": the destination is " + shape(dst) + ", the source is " +
                     shape(src) + "; shapes must be equal");
  }
  char* to = address(verb, dst);
  const char* from = address(verb, src);
  world_.throw_if_failed();
  copies_ = true;
  if (dst.span == 0) return;
  cudaStream_t stream = world_.working_stream(number_);
  if (to == from && dst.pitch_bytes == src.pitch_bytes) return;
  const bool whole =
      dst.rows == 1 || (dst.pitch_bytes == dst.row_bytes && src.pitch_bytes == src.row_bytes);
  constexpr std::size_t most_pitch = std::numeric_limits<int>::max();  // of a 2D copy
  if (whole) {
    SYM_CHECK_CUDA(
        cudaMemcpyAsync(to, from, dst.rows * dst.row_bytes, cudaMemcpyDeviceToDevice, stream));
  } else if (dst.pitch_bytes <= most_pitch && src.pitch_bytes <= most_pitch) {
    SYM_CHECK_CUDA(cudaMemcpy2DAsync(to, dst.pitch_bytes, from, src.pitch_bytes, dst.row_bytes,
                                     dst.rows, cudaMemcpyDeviceToDevice, stream));
  } else {
    for (std::size_t row = 0; row < dst.rows; ++row) {
      SYM_CHECK_CUDA(cudaMemcpyAsync(to + row * dst.pitch_bytes, from + row * src.pitch_bytes,
                                     dst.row_bytes, cudaMemcpyDeviceToDevice, stream));
    }
  }
}

namespace {
GemmPlans& plans_of(std::map<int, std::unique_ptr<GemmPlans>>& all, int number) {
  std::unique_ptr<GemmPlans>& plans = all[number];
  if (plans == nullptr) plans = std::make_unique<GemmPlans>();
  return *plans;
}
}  // namespace

// Where PEs share a GPU, a library that is loaded while another PE's take waits would wait for it:
// so it is loaded before there are flags to wait for. A product small enough for anyone to make.
void CudaWorld::load_products() {
  if (!impl_->gemm_plans.empty()) return;
  try {
    GemmPlans& plans = plans_of(impl_->gemm_plans, 0);
    Product product;
    product.m = product.n = product.k = 8;
    char* memory = static_cast<char*>(local_bytes(1024));
    product.a = product.b = Place{memory, 8};
    product.c = product.d = Place{memory + 512, 8};
    plans.run(product, stream(0), false);
    SYM_CHECK_CUDA(cudaStreamSynchronize(stream(0)));
  } catch (const Unavailable&) {
    impl_->gemm_plans.clear();  // no products in this build, so nothing to load
  }
}

// c may lie in a peer's memory: a product reads each element of it once, at its end, through the
// same mapping as any kernel. So reading it over the link costs the link's time and is hidden by
// the other tiles' sums, where a copy first would be neither.
void CudaQueue::multiply(const Product& product) {
  copies_ = false;
  world_.throw_if_failed();
  cudaStream_t stream = world_.working_stream(number_);
  plans_of(world_.impl_->gemm_plans, number_).run(product, stream, world_.impl_->capturing);
}

void CudaQueue::time_plans(const Product& product) {
  world_.throw_if_failed();
  plans_of(world_.impl_->gemm_plans, number_).time(product, world_.stream(number_));
}

std::uint64_t* CudaQueue::flag(const char* verb, const Posts& posts, std::size_t slot, int from,
                               int at) const {
  require_pe(verb, from);
  if (slot >= posts.slots) {
    throw UsageError(std::string(verb) + ": slot " + std::to_string(slot) + " of " +
                     std::to_string(posts.slots));
  }
  if (posts.lanes != n_pes()) throw UsageError(std::string(verb) + ": flags of another World");
  const Area word = Area::of(row_of(posts.words, posts.word(slot, from), 1), at);
  (void)address(verb, word);
  const Heap& heap = *world_.impl_->heap;
  return reinterpret_cast<std::uint64_t*>(
      heap.base() + static_cast<std::size_t>(at) * heap.pitch_bytes() + word.offset_bytes);
}

namespace {
// By a memory operation of the stream, which begins after what is before it, makes that visible to
// all and waits for nobody. A copy of a word to this GPU's own memory would be made by a kernel,
// and a graph takes long from a copy to a kernel and back
// (experiments/collectives/results/turns.csv).
void set_flag(std::uint64_t* word, cudaStream_t stream) {
  static const auto write = [] {
    void* function = nullptr;
    cudaDriverEntryPointQueryResult found{};
    SYM_CHECK_CUDA(cudaGetDriverEntryPointByVersion("cuStreamWriteValue64", &function, 12000,
                                                    cudaEnableDefault, &found));
    if (found != cudaDriverEntryPointSuccess) throw Unavailable("no cuStreamWriteValue64");
    return reinterpret_cast<CUresult (*)(CUstream, CUdeviceptr, cuuint64_t, unsigned)>(function);
  }();
  const CUresult status =
      write(stream, reinterpret_cast<CUdeviceptr>(word), 1, CU_STREAM_WRITE_VALUE_DEFAULT);
  if (status != CUDA_SUCCESS)
    throw Error("CUDA: cuStreamWriteValue64 returned " + std::to_string(static_cast<int>(status)));
}
}  // namespace

void CudaQueue::post(const Posts& posts, std::size_t slot, int pe, Site site) {
  const FlagUse use = FlagUse::of(flag("post", posts, slot, this->pe(), pe), slot, pe, site);
  world_.throw_if_failed();
  if (copies_) {
    set_flag(use.word, world_.working_stream(number_));
    return;
  }
  KernelContext context = world_.impl_->context;
  context.kernel = "queue";
  enqueue_post(context, use, world_.working_stream(number_));
}

void CudaQueue::take(const Posts& posts, std::size_t slot, int pe, Site site) {
  copies_ = false;
  const FlagUse use = FlagUse::of(flag("take", posts, slot, pe, this->pe()), slot, pe, site);
  world_.throw_if_failed();
  KernelContext context = world_.impl_->context;
  context.kernel = "queue";
  enqueue_take(context, use, world_.working_stream(number_));
}

Mark CudaQueue::record() {
  return world_.impl_->event_marks.record(world_.working_stream(number_), world_.impl_->capturing);
}

void CudaQueue::after(Mark mark) {
  world_.impl_->event_marks.after(mark, world_.working_stream(number_), world_.impl_->capturing);
}

}  // namespace sym::cuda
