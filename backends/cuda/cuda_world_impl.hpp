// What a CudaWorld holds, for the files that implement it.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "backends/cuda/cuda_check.hpp"
#include "backends/cuda/cuda_world.hpp"
#include "backends/cuda/failure.hpp"
#include "backends/cuda/heap.hpp"
#include "backends/cuda/sub_allocator.hpp"

namespace sym::cuda {

struct Graph {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
};

// The events behind Mark. Marks made while capturing have odd numbers, the others even ones: each
// kind is numbered by itself, and means something only where it was made.
class Marks {
 public:
  Marks() = default;
  Marks(const Marks&) = delete;
  Marks& operator=(const Marks&) = delete;

  Mark record(cudaStream_t stream, bool capturing);
  // Throws UsageError for a mark that was not made here: in this capture, or outside any.
  void after(Mark mark, cudaStream_t stream, bool capturing);
  void end_capture() { forget(captured_); }
  // Everything that marks made outside captures stand for has ended.
  void all_done() { forget(eager_); }
  void destroy() noexcept;

 private:
  struct Line {
    std::int64_t first = 0;  // number of the oldest mark kept; those before it have ended
    std::deque<cudaEvent_t> events;
  };
  void forget(Line& line);
  void forget_ended();
  cudaEvent_t event();

  Line eager_, captured_;
  std::vector<cudaEvent_t> pool_;
};

struct CudaWorld::Impl {
  explicit Impl(std::unique_ptr<Heap> heap_) : heap(std::move(heap_)), space(heap->size_bytes()) {}

  std::unique_ptr<Heap> heap;
  SubAllocator space;
  KernelContext context;
  FailureRecord* record = nullptr;  // pinned
  double wait_limit_ms = 0;
  std::vector<cudaStream_t> streams;
  std::vector<Graph> graphs;
  bool capturing = false;
  std::vector<int> forked;  // streams that take part in the capture, beside 0
  cudaEvent_t marks[2] = {nullptr, nullptr};
  int last_mark = 0;
  double marked_us = 0;
  std::vector<void*> locals;
  std::vector<int*> member_lists;  // pages of members of teams, which kernels can read
  std::size_t list_used = 0;       // of the last page
  std::size_t list_room = 0;
  std::vector<std::pair<std::size_t, std::size_t>> channels;  // offset and bytes
  // (function, threads, scratch bytes) to blocks that fit
  std::map<std::tuple<const void*, int, std::size_t>, int> resident;
  std::map<const void*, std::size_t> scratch_room;  // function to the most scratch it may have
  std::map<int, std::unique_ptr<CudaQueue>> queues;
  std::map<int, std::unique_ptr<GemmPlans>> gemm_plans;  // of each queue that multiplied
  Marks event_marks;

  void order_after(cudaStream_t later, cudaStream_t earlier) const {
    cudaEvent_t event = nullptr;
    SYM_CHECK_CUDA(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    SYM_CHECK_CUDA(cudaEventRecord(event, earlier));
    SYM_CHECK_CUDA(cudaStreamWaitEvent(later, event, 0));
    SYM_CHECK_CUDA(cudaEventDestroy(event));
  }
  void make_list_page(std::size_t at_least);
  void destroy_device_objects() noexcept;
};

}  // namespace sym::cuda
