// CudaWorld: one PE's host view of GPUs whose memory is mapped to each other. No CUDA header
// needed; include launch.cuh in the .cu files that launch kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "backends/cuda/cuda_queue.hpp"
#include "core/bootstrap.hpp"
#include "core/world.hpp"

struct CUstream_st;

namespace sym::cuda {

class Heap;

// Which GPU this PE uses, and how many PEs of this process share it.
struct DeviceShare {
  int device = 0;
  int pes = 1;
};

// Used by one host thread at a time. Environment: SYM_WAIT_MS, how long a device wait lasts before
// it fails (default 10000, 0: for ever); SYM_HEAP (heap.hpp).
class CudaWorld {
 public:
  // [collective] `bootstrap` must outlive the World.
  CudaWorld(Bootstrap& bootstrap, std::unique_ptr<Heap> heap, DeviceShare share);
  // Ends this PE's launches, destroys its graphs, and meets the other PEs before memory goes
  // (unless an exception is on its way).
  ~CudaWorld();
  CudaWorld(const CudaWorld&) = delete;
  CudaWorld& operator=(const CudaWorld&) = delete;

  int pe() const { return bootstrap_.pe(); }
  int n_pes() const { return bootstrap_.n_pes(); }
  Bootstrap& bootstrap() { return bootstrap_; }
  const DeviceShare& share() const { return share_; }
  Team team() const { return Team::strided(pe(), 0, 1, n_pes()); }
  // Evenly rising members need no memory; others lie in host memory that kernels can read.
  Team team(const std::vector<int>& members);

  template <class T>
  Window<T> allocate(std::size_t n) {
    return Window<T>{Segment::payload, allocate_bytes(Segment::payload, bytes_of<T>(n)), n};
  }
  template <class T>
  Window<T> allocate_control(std::size_t n) {
    return Window<T>{Segment::control, allocate_bytes(Segment::control, bytes_of<T>(n)), n};
  }
  template <class T>
  void free(Window<T> window) {
    free_bytes(window.offset_bytes);
  }
  template <class T>
  Local<T> local(std::size_t n) {
    return Local<T>{static_cast<T*>(local_bytes(bytes_of<T>(n))), n};
  }
  Channel channel(const ChannelRequest& request);

  template <class T>
  void write(Window<T> window, const T* source, std::size_t n) {
    copy_in(checked(address(window), window.count, n), source, bytes_of<T>(n));
  }
  template <class T>
  void read(T* host, Window<T> window, std::size_t n) {
    copy_out(host, checked(address(window), window.count, n), bytes_of<T>(n));
  }
  template <class T>
  void write(Local<T> local, const T* source, std::size_t n) {
    copy_in(checked(local.data, local.count, n), source, bytes_of<T>(n));
  }
  template <class T>
  void read(T* host, Local<T> local, std::size_t n) {
    copy_out(host, checked(local.data, local.count, n), bytes_of<T>(n));
  }
  // This PE's part of a window, for host calls (copies, cuBLAS, NCCL); kernels address it
  // otherwise.
  template <class T>
  T* address(Window<T> window) const {
    return reinterpret_cast<T*>(own_ + window.offset_bytes);
  }

  template <class Kernel>
  void launch(const LaunchConfig& config, const Kernel& kernel);  // launch.cuh
  // The CUDA function `function(Kernel, KernelContext)` with *kernel as its first argument.
  void launch_function(const LaunchConfig& config, const void* function, const void* kernel);

  // Stream `number`, 0 to 63, as a queue.
  CudaQueue& queue(int number);
  Posts posts(std::size_t slots);  // recover() clears them

  void synchronize();
  void barrier() { bootstrap_.barrier(); }
  // What goes to any stream is captured; streams other than 0 fork from it and join it at the end.
  void begin_capture();
  GraphId end_capture();
  void replay(GraphId graph);
  // [collective] Median over repetitions of the time of one replay, in microseconds on stream 0:
  // `replays` back to back between two events, after one more that lets the PEs meet.
  double time_graph_us(GraphId graph, int replays, int repetitions = 7);
  void recover();
  double mark_us();
  bool moves_data() const { return true; }

  bool failed() const;
  void set_wait_limit_ms(double limit_ms);  // for launches to come; captured ones keep theirs
  CUstream_st* stream(int index);

 private:
  friend class CudaQueue;
  struct Impl;

  template <class T>
  static std::size_t bytes_of(std::size_t n) {
    if (n > std::numeric_limits<std::size_t>::max() / sizeof(T))
      throw UsageError("more elements than memory has bytes");
    return n * sizeof(T);
  }
  template <class P>
  static P* checked(P* data, std::size_t count, std::size_t n) {
    if (n <= count) return data;
    throw UsageError("a copy of " + std::to_string(n) + " elements to or from " +
                     std::to_string(count));
  }
  std::size_t allocate_bytes(Segment segment, std::size_t bytes);
  void free_bytes(std::size_t offset_bytes);
  void* local_bytes(std::size_t bytes);
  void copy_in(void* device, const void* host, std::size_t bytes);
  void copy_out(void* host, const void* device, std::size_t bytes);
  void quiesce(const char* what);
  // The stream that work is enqueued on; takes part in the capture, if there is one, from here on.
  CUstream_st* working_stream(int index);
  void load_products();
  void require_room(const LaunchConfig& config, const void* function);
  void throw_if_failed() const;
  void refuse_in_capture(const char* what) const;

  Bootstrap& bootstrap_;
  DeviceShare share_;
  char* own_ = nullptr;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sym::cuda
