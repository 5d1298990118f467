#include "backends/cuda/cuda_world_impl.hpp"

namespace sym::cuda {

cudaEvent_t Marks::event() {
  cudaEvent_t event = nullptr;
  if (pool_.empty()) {
    SYM_CHECK_CUDA(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  } else {
    event = pool_.back();
    pool_.pop_back();
  }
  return event;
}

void Marks::forget(Line& line) {
  line.first += static_cast<std::int64_t>(line.events.size());
  pool_.insert(pool_.end(), line.events.begin(), line.events.end());
  line.events.clear();
}

// So that a program that never synchronizes does not collect events for ever.
void Marks::forget_ended() {
  constexpr std::size_t worth_asking = 64;
  while (eager_.events.size() > worth_asking) {
    const cudaError_t status = cudaEventQuery(eager_.events.front());
    if (status == cudaErrorNotReady) {
      (void)cudaGetLastError();
      return;
    }
    SYM_CHECK_CUDA(status);
    pool_.push_back(eager_.events.front());
    eager_.events.pop_front();
    ++eager_.first;
  }
}

Mark Marks::record(cudaStream_t stream, bool capturing) {
  if (!capturing) forget_ended();
  Line& line = capturing ? captured_ : eager_;
  line.events.push_back(event());
  SYM_CHECK_CUDA(cudaEventRecord(line.events.back(), stream));
  const std::int64_t number = line.first + static_cast<std::int64_t>(line.events.size()) - 1;
  return Mark{2 * number + (capturing ? 1 : 0)};
}

void Marks::after(Mark mark, cudaStream_t stream, bool capturing) {
  const bool captured = mark.index % 2 != 0;
  const Line& line = captured ? captured_ : eager_;
  const std::int64_t number = mark.index / 2;
  if (mark.index < 0 || number >= line.first + static_cast<std::int64_t>(line.events.size())) {
    throw UsageError("after: mark " + std::to_string(mark.index) +
                     " was not made by a queue of this PE");
  }
  if (captured != capturing || (captured && number < line.first)) {
    throw UsageError(std::string("after: the mark was made ") +
                     (captured ? "in a capture that has ended" : "outside this capture") +
                     "; a mark is used where it was made, in one capture or outside any");
  }
  if (number < line.first) return;  // it has ended
  const std::size_t place = static_cast<std::size_t>(number - line.first);
  SYM_CHECK_CUDA(cudaStreamWaitEvent(stream, line.events[place], 0));
}

void Marks::destroy() noexcept {
  forget(captured_);
  forget(eager_);
  for (cudaEvent_t event : pool_) (void)cudaEventDestroy(event);
  pool_.clear();
}

}  // namespace sym::cuda
