// CudaWorld's captured graphs and its clock.
#include <algorithm>
#include <exception>
#include <utility>
#include <vector>

#include "backends/cuda/cuda_world_impl.hpp"

namespace sym::cuda {

void CudaWorld::begin_capture() {
  refuse_in_capture("begin_capture");
  throw_if_failed();
  SYM_CHECK_CUDA(cudaStreamBeginCapture(stream(0), cudaStreamCaptureModeThreadLocal));
  impl_->capturing = true;
}

GraphId CudaWorld::end_capture() {
  if (!impl_->capturing) throw UsageError("end_capture() without begin_capture()");
  // Whatever fails from here on, neither the World nor its streams capture any more.
  const std::vector<int> forked = std::exchange(impl_->forked, {});
  impl_->capturing = false;
  impl_->event_marks.end_capture();
  std::exception_ptr error;
  try {
    for (const int index : forked) impl_->order_after(stream(0), stream(index));
  } catch (...) {
    error = std::current_exception();
  }
  Graph graph;
  cudaError_t status = cudaStreamEndCapture(stream(0), &graph.graph);
  if (error == nullptr && status == cudaSuccess) {
    status = cudaGraphInstantiate(&graph.exec, graph.graph, 0);
  }
  if (error != nullptr || status != cudaSuccess) {
    (void)cudaGetLastError();
    if (graph.graph != nullptr) (void)cudaGraphDestroy(graph.graph);
    if (error != nullptr) std::rethrow_exception(error);
    check_cuda(status, "end_capture", __FILE__, __LINE__);
  }
  impl_->graphs.push_back(graph);
  SYM_CHECK_CUDA(cudaGraphUpload(graph.exec, stream(0)));
  SYM_CHECK_CUDA(cudaStreamSynchronize(stream(0)));
  return GraphId{static_cast<int>(impl_->graphs.size()) - 1};
}

void CudaWorld::replay(GraphId graph) {
  refuse_in_capture("replay");
  throw_if_failed();
  if (graph.index < 0 || graph.index >= static_cast<int>(impl_->graphs.size())) {
    throw UsageError("replay of graph " + std::to_string(graph.index) +
                     ", which was not captured here");
  }
  SYM_CHECK_CUDA(
      cudaGraphLaunch(impl_->graphs[static_cast<std::size_t>(graph.index)].exec, stream(0)));
}

double CudaWorld::time_graph_us(GraphId graph, int replays, int repetitions) {
  refuse_in_capture("time_graph_us");
  bootstrap_
      .barrier();  // a graph made while another PE's kernel waits on the same GPU might wait for it
  cudaEvent_t begin = nullptr;
  cudaEvent_t end = nullptr;
  SYM_CHECK_CUDA(cudaEventCreate(&begin));
  SYM_CHECK_CUDA(cudaEventCreate(&end));
  std::vector<double> times_us;
  for (int repetition = 0; repetition < repetitions; ++repetition) {
    replay(graph);
    SYM_CHECK_CUDA(cudaEventRecord(begin, stream(0)));
    for (int i = 0; i < replays; ++i) replay(graph);
    SYM_CHECK_CUDA(cudaEventRecord(end, stream(0)));
    synchronize();
    float elapsed_ms = 0;
    SYM_CHECK_CUDA(cudaEventElapsedTime(&elapsed_ms, begin, end));
    times_us.push_back(1e3 * static_cast<double>(elapsed_ms) / replays);
  }
  SYM_CHECK_CUDA(cudaEventDestroy(begin));
  SYM_CHECK_CUDA(cudaEventDestroy(end));
  const auto middle = times_us.begin() + static_cast<std::ptrdiff_t>(times_us.size() / 2);
  std::nth_element(times_us.begin(), middle, times_us.end());
  return *middle;
}

// Elapsed times are floats of milliseconds: taken from mark to mark, they stay exact for ever.
double CudaWorld::mark_us() {
  refuse_in_capture("mark_us");
  const int next = 1 - impl_->last_mark;
  SYM_CHECK_CUDA(cudaEventRecord(impl_->marks[next], stream(0)));
  SYM_CHECK_CUDA(cudaEventSynchronize(impl_->marks[next]));
  float elapsed_ms = 0;
  SYM_CHECK_CUDA(
      cudaEventElapsedTime(&elapsed_ms, impl_->marks[impl_->last_mark], impl_->marks[next]));
  impl_->marked_us += 1e3 * static_cast<double>(elapsed_ms);
  impl_->last_mark = next;
  return impl_->marked_us;
}

}  // namespace sym::cuda
