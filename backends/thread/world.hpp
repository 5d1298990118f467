// ThreadWorld: PEs as threads of one process; blocks and queues are threads of their own.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "backends/thread/meeting.hpp"
#include "backends/thread/queue.hpp"
#include "core/world.hpp"

namespace sym::thread {

class ThreadWorld {
 public:
  ThreadWorld(Shared& shared, int pe);
  ~ThreadWorld();
  ThreadWorld(const ThreadWorld&) = delete;
  ThreadWorld& operator=(const ThreadWorld&) = delete;

  int pe() const { return state_.pe; }
  int n_pes() const { return state_.shared.options.pes; }
  Team team() const { return Team::strided(pe(), 0, 1, n_pes()); }
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
    locals_.push_back(std::make_unique<std::byte[]>(sym::bytes_of(count, sizeof(T)) + 64));
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
    queue(config.stream).launch(config, kernel);
  }
  void synchronize();
  void barrier() {
    meet("barrier", [] {});
  }
  ThreadQueue& queue(int number);
  Posts posts(std::size_t slots);
  void begin_capture() { state_.streams.begin_capture(); }
  GraphId end_capture() { return state_.streams.end_capture(); }
  void replay(GraphId graph);
  void recover();
  double mark_us();
  bool moves_data() const { return true; }

 private:
  std::size_t allocate_bytes(std::size_t count, std::size_t element);
  void free_bytes(std::size_t offset);
  template <class Once>
  void meet(const std::string& what, Once once) {
    state_.shared.meeting.meet(pe(), what, once);
  }
  void clear(Window<std::uint64_t> words);
  void copy(void* to, const void* from, std::size_t bytes);
  template <class T>
  T* bytes_of(Window<T> window, std::size_t n) {
    if (n > window.count) throw UsageError("a copy is longer than its window");
    return reinterpret_cast<T*>(state_.shared.heap.at(pe(), window.offset_bytes, n * sizeof(T)));
  }

  PeState state_;
  std::map<int, ThreadQueue> queues_;
  std::vector<std::unique_ptr<std::vector<int>>> teams_;
  std::vector<std::unique_ptr<std::byte[]>> locals_;
  std::vector<Channel> channels_;
  std::vector<Posts> posts_;
};

static_assert(World<ThreadWorld>);

// Runs `program` on every PE, each on a thread of its own; throws what the first PE to fail threw.
void run_threads(const ThreadOptions& options, const std::function<void(ThreadWorld&)>& program);

}  // namespace sym::thread
