// ThreadWorld: PEs as threads of one process, blocks as threads of their own.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backends/thread/block.hpp"
#include "backends/thread/meeting.hpp"
#include "core/world.hpp"

namespace sym::thread {

class ThreadWorld {
 public:
  ThreadWorld(Shared& shared, int pe);
  ~ThreadWorld();
  ThreadWorld(const ThreadWorld&) = delete;
  ThreadWorld& operator=(const ThreadWorld&) = delete;

  int pe() const { return pe_; }
  int n_pes() const { return shared_.options.pes; }
  Team team() const { return Team::strided(pe_, 0, 1, n_pes()); }
  Team team(const std::vector<int>& members);

  template <class T>
  Window<T> allocate(std::size_t count) {
    return Window<T>{Segment::payload, allocate_bytes(count, sizeof(T)), count};
  }
  template <class T>
  Window<T> allocate_control(std::size_t count) {
    return Window<T>{Segment::control, allocate_bytes(count, sizeof(T)), count};
  }
  template <class T>
  void free(Window<T> window) {
    free_bytes(window.offset_bytes);
  }
  template <class T>
  Local<T> local(std::size_t count) {
    locals_.push_back(std::make_unique<std::byte[]>(count * sizeof(T) + 64));
    const auto address = reinterpret_cast<std::uintptr_t>(locals_.back().get());
    return Local<T>{reinterpret_cast<T*>((address + 63) / 64 * 64), count};
  }
  Channel channel(const ChannelRequest& request);

  template <class T>
  void write(Window<T> window, const T* from, std::size_t n) {
    copy(bytes_of(window, n), from, n * sizeof(T));
  }
  template <class T>
  void read(T* to, Window<T> window, std::size_t n) {
    copy(to, bytes_of(window, n), n * sizeof(T));
  }
  template <class T>
  void write(Local<T> local, const T* from, std::size_t n) {
    copy(local.data, from, n * sizeof(T));
  }
  template <class T>
  void read(T* to, Local<T> local, std::size_t n) {
    copy(to, local.data, n * sizeof(T));
  }

  template <class Kernel>
  void launch(const LaunchConfig& config, Kernel kernel) {
    begin(config, [kernel](ThreadBlock& block) { kernel(block); });
  }
  void synchronize();
  void barrier() {
    shared_.meeting.meet(pe_, "barrier", [] {});
  }
  void begin_capture();
  GraphId end_capture();
  void replay(GraphId graph);
  void recover();
  double mark_us();
  bool moves_data() const { return true; }

 private:
  using Body = std::function<void(ThreadBlock&)>;
  struct Captured {
    LaunchConfig config;
    Body body;
  };
  class Stream;  // launches in order, on a thread of its own
  std::size_t allocate_bytes(std::size_t count, std::size_t element);
  void free_bytes(std::size_t offset);
  void begin(const LaunchConfig& config, Body body);
  void run_blocks(const LaunchConfig& config, const Body& body);
  void wait_for_stream(int stream);
  void throw_verdict();
  void copy(void* to, const void* from, std::size_t bytes);
  template <class T>
  T* bytes_of(Window<T> window, std::size_t n) {
    if (n > window.count) throw UsageError("a copy is longer than its window");
    return reinterpret_cast<T*>(shared_.heap.at(pe_, window.offset_bytes, n * sizeof(T)));
  }

  Shared& shared_;
  int pe_;
  Verdict verdict_;
  std::atomic<bool> failed_{false};
  std::map<int, std::unique_ptr<Stream>> streams_;
  std::vector<std::unique_ptr<std::vector<int>>> teams_;
  std::vector<std::unique_ptr<std::byte[]>> locals_;
  std::vector<std::vector<Captured>> graphs_;
  bool capturing_ = false;
  std::vector<Channel> channels_;
};

static_assert(World<ThreadWorld>);

// Runs `program` on every PE, each on a thread of its own; throws what the first PE to fail threw.
void run_threads(const ThreadOptions& options, const std::function<void(ThreadWorld&)>& program);

}  // namespace sym::thread
