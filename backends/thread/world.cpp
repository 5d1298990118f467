#include "backends/thread/world.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <exception>

namespace sym::thread {

// Launches in order, on a thread of its own.
class ThreadWorld::Stream {
 public:
  Stream() : worker_([this](const std::stop_token& stop) { work(stop); }) {}

  void push(std::function<void()> launch) {
    const std::lock_guard lock(mutex_);
    queue_.push_back(std::move(launch));
    changed_.notify_all();
  }
  void drain() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return queue_.empty(); });
  }

 private:
  void work(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (changed_.wait(lock, stop, [this] { return !queue_.empty(); })) {
      const std::function<void()> launch = queue_.front();
      lock.unlock();
      launch();
      lock.lock();
      queue_.pop_front();  // only now: drain() waits for the end, not for the beginning
      changed_.notify_all();
    }
  }
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<std::function<void()>> queue_;
  std::jthread worker_;  // last: it uses the others, and is joined before they end
};

ThreadWorld::ThreadWorld(Shared& shared, int pe) : shared_(shared), pe_(pe) {}

ThreadWorld::~ThreadWorld() {
  for (auto& [number, stream] : streams_) stream->drain();
}

Team ThreadWorld::team(const std::vector<int>& members) {
  for (int member : members) {
    if (member < 0 || member >= n_pes() ||
        std::count(members.begin(), members.end(), member) != 1) {
      throw UsageError("team: member " + std::to_string(member) +
                       " is named twice or is no PE of 0.." + std::to_string(n_pes() - 1));
    }
  }
  teams_.push_back(std::make_unique<std::vector<int>>(members));
  return Team::listed(pe_, teams_.back()->data(), static_cast<int>(members.size()));
}

std::size_t ThreadWorld::allocate_bytes(std::size_t count, std::size_t element) {
  synchronize();
  shared_.meeting.meet(
      pe_,
      "allocate of " + std::to_string(count) + " elements of " + std::to_string(element) + " bytes",
      [&] { shared_.allocated = shared_.heap.allocate(count * element); });
  return shared_.allocated;
}

void ThreadWorld::free_bytes(std::size_t offset) {
  synchronize();
  shared_.meeting.meet(pe_, "free of offset " + std::to_string(offset),
                       [&] { shared_.heap.free(offset); });
}

Channel ThreadWorld::channel(const ChannelRequest& request) {
  if (request.blocks < 1) throw UsageError("channel: blocks must be at least 1");
  const auto slots = static_cast<std::size_t>(request.blocks);
  const std::size_t words = slots * static_cast<std::size_t>(n_pes());
  Channel channel;
  channel.blocks = request.blocks;
  for (Signals* signals : {&channel.barriers, &channel.steps}) {
    signals->words = allocate_control<std::uint64_t>(words);
    signals->sent = allocate_control<std::uint64_t>(words);
    signals->seen = allocate_control<std::uint64_t>(words);
    signals->slots = slots;
    signals->lanes = n_pes();
  }
  channel.barriers.tagged = true;
  channel.busy = allocate_control<std::uint64_t>(slots);
  if (request.packet_bytes > 0) {
    Packets& inbox = channel.inbox;
    inbox.capacity_bytes = (request.packet_bytes + 15) / 16 * 16;
    inbox.lanes = channel.barriers;  // the same shape; tables of its own
    for (auto* table : {&inbox.lanes.words, &inbox.lanes.sent, &inbox.lanes.seen}) {
      *table = allocate_control<std::uint64_t>(words);
    }
    inbox.cells =
        allocate<std::uint64_t>(words * 2 * inbox.message_bytes() / sizeof(std::uint64_t));
  }
  channels_.push_back(channel);
  return channel;
}

void ThreadWorld::run_blocks(const LaunchConfig& config, const Body& body) {
  std::vector<std::jthread> blocks;
  for (int index = 0; index < config.blocks; ++index) {
    blocks.emplace_back([this, &config, &body, index] {
      ThreadBlock block(shared_, verdict_, failed_, {pe_, index, config.blocks, config.name});
      try {
        body(block);
      } catch (const std::exception& error) {
        verdict_.set(std::string("exception in ") + config.name + ": " + error.what());
        failed_ = true;
      }
    });
  }
}

void ThreadWorld::begin(const LaunchConfig& config, Body body) {
  if (config.blocks < 1) throw UsageError("launch: blocks must be at least 1");
  constexpr int most_threads = 4096;
  if (config.blocks > most_threads / n_pes()) {
    throw UsageError("launch: " + std::to_string(config.blocks) + " blocks on each of " +
                     std::to_string(n_pes()) + " PEs; a thread world runs at most " +
                     std::to_string(most_threads) + " blocks at a time");
  }
  if (capturing_) {
    graphs_.back().push_back({config, std::move(body)});
    return;
  }
  throw_verdict();
  auto& stream = streams_[config.stream];
  if (stream == nullptr) stream = std::make_unique<Stream>();
  stream->push([this, config, body = std::move(body)] { run_blocks(config, body); });
}

void ThreadWorld::throw_verdict() {
  if (!failed_) return;
  const std::lock_guard lock(verdict_.mutex);
  throw Failure(verdict_.text.value_or("a block failed"));
}

void ThreadWorld::wait_for_stream(int stream) {
  const auto found = streams_.find(stream);
  if (found != streams_.end()) found->second->drain();
}

void ThreadWorld::synchronize() {
  for (auto& [number, stream] : streams_) stream->drain();
  throw_verdict();
}

void ThreadWorld::copy(void* to, const void* from, std::size_t bytes) {
  wait_for_stream(0);
  if (bytes != 0) std::memcpy(to, from, bytes);
}

void ThreadWorld::begin_capture() {
  if (capturing_) throw UsageError("begin_capture: a capture is under way; end it first");
  capturing_ = true;
  graphs_.emplace_back();
}

GraphId ThreadWorld::end_capture() {
  if (!capturing_) throw UsageError("end_capture: no capture is under way");
  capturing_ = false;
  return GraphId{static_cast<int>(graphs_.size()) - 1};
}

void ThreadWorld::replay(GraphId graph) {
  if (graph.index < 0 || static_cast<std::size_t>(graph.index) >= graphs_.size()) {
    throw UsageError("replay: no such graph");
  }
  for (const Captured& launch : graphs_[static_cast<std::size_t>(graph.index)]) {
    begin(launch.config, launch.body);
  }
}

void ThreadWorld::recover() {
  for (auto& [number, stream] : streams_) stream->drain();
  shared_.meeting.meet(pe_, "recover", [] {});
  for (const Channel& channel : channels_) {
    for (const Signals* signals : {&channel.barriers, &channel.steps, &channel.inbox.lanes}) {
      for (const auto& table : {signals->words, signals->sent, signals->seen}) {
        std::fill_n(bytes_of(table, table.count), table.count, std::uint64_t{0});
      }
    }
    std::fill_n(bytes_of(channel.busy, channel.busy.count), channel.busy.count, std::uint64_t{0});
  }
  verdict_.text.reset();
  failed_ = false;
  shared_.meeting.meet(pe_, "recover, done", [] {});
}

double ThreadWorld::mark_us() {
  wait_for_stream(0);
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::micro>(now).count();
}

void run_threads(const ThreadOptions& options, const std::function<void(ThreadWorld&)>& program) {
  constexpr int most_pes = 512;
  if (options.pes < 1 || options.pes > most_pes) {
    throw UsageError("thread: " + std::to_string(options.pes) + " PEs; 1 to " +
                     std::to_string(most_pes) + " can be threads of one process");
  }
  Shared shared(options);
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(options.pes));
  {
    std::vector<std::jthread> hosts;
    for (int pe = 0; pe < options.pes; ++pe) {
      hosts.emplace_back([&, pe] {
        try {
          ThreadWorld world(shared, pe);
          program(world);
          world.synchronize();
        } catch (...) {
          errors[static_cast<std::size_t>(pe)] = std::current_exception();
          shared.meeting.give_up(pe);
        }
      });
    }
  }
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

}  // namespace sym::thread
