// FiberWorld: one PE's host view of an Engine. The host program of each PE is a fibre too.
#pragma once

#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backends/fiber/block.hpp"
#include "backends/fiber/queue.hpp"
#include "core/world.hpp"

namespace sym::fiber {

// What the PEs' worlds share: the n-th collective call of every PE is the same call.
struct SharedWorld {
  struct Allocation {
    Segment segment;
    std::size_t offset;
  };
  Engine& engine;
  int fibres = 0;  // of a symmetric launch; 0: as many as it has blocks
  std::vector<Allocation> allocations;
  std::size_t frees = 0;
};

class FiberWorld {
 public:
  FiberWorld(SharedWorld& shared, int pe)
      : shared_(shared),
        host_(shared.engine.current()),
        pe_(pe),
        streams_(shared.engine, host_, shared.fibres) {}
  FiberWorld(const FiberWorld&) = delete;
  FiberWorld& operator=(const FiberWorld&) = delete;

  int pe() const { return pe_; }
  int n_pes() const { return engine().pes(); }
  Team team() const { return Team::strided(pe_, 0, 1, n_pes()); }
  Team team(const std::vector<int>& members, Site site = Site::here());

  template <class T>
  Window<T> allocate(std::size_t count, Site site = Site::here()) {
    begin(Verb::world_allocate, site);
    return Window<T>{Segment::payload, allocate_bytes(Segment::payload, count, sizeof(T)), count};
  }
  template <class T>
  Window<T> allocate_control(std::size_t count, Site site = Site::here()) {
    begin(Verb::world_allocate_control, site);
    return Window<T>{Segment::control, allocate_bytes(Segment::control, count, sizeof(T)), count};
  }
  template <class T>
  void free(Window<T> window, Site site = Site::here()) {
    begin(Verb::world_free, site);
    free_bytes(window.segment, window.offset_bytes);
  }
  template <class T>
  Local<T> local(std::size_t count, Site site = Site::here()) {
    begin(Verb::world_local, site);
    return Local<T>{reinterpret_cast<T*>(engine().memory().local(pe_, bytes_of(count, sizeof(T)))),
                    count};
  }
  Channel channel(const ChannelRequest& request, Site site = Site::here());

  template <class T>
  void write(Window<T> window, const T* from, std::size_t n, Site site = Site::here()) {
    begin(Verb::world_write, site);
    copy(resolve(window, n), const_cast<T*>(from), true);
  }
  template <class T>
  void read(T* to, Window<T> window, std::size_t n, Site site = Site::here()) {
    begin(Verb::world_read, site);
    copy(resolve(window, n), to, false);
  }
  template <class T>
  void write(Local<T> local, const T* from, std::size_t n, Site site = Site::here()) {
    begin(Verb::world_write, site);
    copy(resolve(local, n), const_cast<T*>(from), true);
  }
  template <class T>
  void read(T* to, Local<T> local, std::size_t n, Site site = Site::here()) {
    begin(Verb::world_read, site);
    copy(resolve(local, n), to, false);
  }

  template <class Kernel>
  void launch(const LaunchConfig& config, Kernel kernel, Site site = Site::here()) {
    begin(Verb::world_launch, site);
    stream(config.stream).launch(config, kernel, site, Verb::world_launch);
  }
  // Throws UsageError for a number that no queue can have.
  MutantQueue<FiberQueue>& queue(int number, Site site = Site::here()) {
    begin(Verb::world_queue, site);
    return stream(number);
  }
  Posts posts(std::size_t slots, Site site = Site::here());
  void synchronize(Site site = Site::here());
  void barrier(Site site = Site::here());

  void begin_capture(Site site = Site::here()) {
    begin(Verb::world_begin_capture, site);
    streams_.begin_capture(site);
  }
  GraphId end_capture(Site site = Site::here()) {
    begin(Verb::world_end_capture, site);
    return streams_.end_capture();
  }
  void replay(GraphId graph, Site site = Site::here()) {
    begin(Verb::world_replay, site);
    streams_.replay(graph);
  }
  void recover(Site site = Site::here());

  double mark_us(Site site = Site::here()) {
    begin(Verb::world_mark_us, site);
    engine().synchronize(host_, 0);
    return engine().policy().now_us();
  }
  bool capturing() const { return streams_.capturing(); }
  // The last call, as reports name it.
  Place last_call() const { return engine().place_of(host_, "last"); }
  // The PE's program has thrown: what it has left open, it could not end.
  void thrown() { streams_.drop_capture(); }
  // The PE's program has ended: what of it will never run is a finding.
  void finish();
  bool moves_data() const { return engine().memory().payload_storage(); }

 private:
  Engine& engine() const { return shared_.engine; }
  // What the world allocates for itself has a name, and is words that begin with a value and that
  // verbs of blocks alone touch. `call`: what the program has asked for.
  struct Own {
    std::string name;
    std::uint64_t first_value = 0;
    bool words = true;
    std::string call = {};
  };
  std::size_t allocate_bytes(Segment segment, std::size_t count, std::size_t element,
                             const Own& own = {"", 0, false, ""});
  void free_bytes(Segment segment, std::size_t offset);
  void copy(const Bytes& bytes, void* host, bool write);
  void begin(Verb call, Site site) { streams_.begin(call, site); }
  MutantQueue<FiberQueue>& stream(int number);
  // Whether a mutation leaves out this call of the host program.
  bool dropped(const char* call) const;

  template <class T>
  Bytes resolve(Window<T> window, std::size_t n) const {
    return engine().resolve(window.segment, window.offset_bytes, n * sizeof(T), pe_);
  }
  template <class T>
  Bytes resolve(Local<T> local, std::size_t n) const {
    if (n > local.count) throw UsageError("a copy is longer than its local array");
    if (n > 0 && local.data == nullptr) throw UsageError("a copy of a null Local");
    auto* data = reinterpret_cast<std::byte*>(local.data);
    return Bytes{pe_,
                 Bytes::local_space,
                 reinterpret_cast<std::uintptr_t>(data),
                 n * sizeof(T),
                 moves_data() ? data : nullptr,
                 sizeof(T)};
  }

  SharedWorld& shared_;
  Agent& host_;
  int pe_;
  std::size_t allocations_ = 0;
  std::size_t frees_ = 0;
  std::size_t posts_ = 0;
  std::vector<std::unique_ptr<std::vector<int>>> teams_;
  Streams streams_;
  std::map<int, MutantQueue<FiberQueue>> queues_;
  std::vector<Channel> channels_;
};

static_assert(World<FiberWorld>);

// Runs `program` on every PE of the engine; the findings are in the engine afterwards.
void run_worlds(Engine& engine, int fibres, const std::function<void(FiberWorld&)>& program);

}  // namespace sym::fiber
