#include "backends/thread/world.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <string>
#include <thread>

namespace sym::thread {

ThreadWorld::ThreadWorld(Shared& shared, int pe) : state_(shared, pe) {}

ThreadWorld::~ThreadWorld() { state_.streams.drain(); }

Team ThreadWorld::team(const std::vector<int>& members) {
  for (int member : members) {
    if (member < 0 || member >= n_pes() ||
        std::count(members.begin(), members.end(), member) != 1) {
      throw UsageError("team: member " + std::to_string(member) +
                       " is named twice or is no PE of 0.." + std::to_string(n_pes() - 1));
    }
  }
  teams_.push_back(std::make_unique<std::vector<int>>(members));
  return Team::listed(pe(), teams_.back()->data(), static_cast<int>(members.size()));
}

std::size_t ThreadWorld::allocate_bytes(std::size_t count, std::size_t element) {
  const std::size_t bytes = sym::bytes_of(count, element);
  synchronize();
  Shared& shared = state_.shared;
  meet(
      "allocate of " + std::to_string(count) + " elements of " + std::to_string(element) + " bytes",
      [&] { shared.allocated = shared.heap.allocate(bytes); });
  return shared.allocated;
}

void ThreadWorld::free_bytes(std::size_t offset) {
  synchronize();
  meet("free of offset " + std::to_string(offset), [&] { state_.shared.heap.free(offset); });
  // recover() must not clear what the next owner of the memory has there.
  std::erase_if(posts_, [&](const Posts& posts) { return posts.words.offset_bytes == offset; });
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

ThreadQueue& ThreadWorld::queue(int number) {
  Streams::require_number(number);
  return queues_.try_emplace(number, state_, number).first->second;
}

Posts ThreadWorld::posts(std::size_t slots) {
  Posts posts;
  posts.words = allocate_control<std::uint64_t>(slots * static_cast<std::size_t>(n_pes()));
  posts.slots = slots;
  posts.lanes = n_pes();
  posts_.push_back(posts);
  return posts;
}

void ThreadWorld::synchronize() {
  state_.streams.drain();
  state_.throw_verdict();
}

void ThreadWorld::copy(void* to, const void* from, std::size_t bytes) {
  state_.streams.drain(0);
  if (bytes != 0) std::memcpy(to, from, bytes);
}

void ThreadWorld::replay(GraphId graph) {
  state_.throw_verdict();
  state_.streams.replay(graph);
}

void ThreadWorld::clear(Window<std::uint64_t> words) {
  std::fill_n(bytes_of(words, words.count), words.count, std::uint64_t{0});
}

void ThreadWorld::recover() {
  state_.streams.drain();
  meet("recover", [] {});
  for (const Channel& channel : channels_) {
    for (const Signals* signals : {&channel.barriers, &channel.steps, &channel.inbox.lanes}) {
      for (const auto& table : {signals->words, signals->sent, signals->seen}) clear(table);
    }
    clear(channel.busy);
  }
  for (const Posts& posts : posts_) clear(posts.words);
  state_.verdict.text.reset();
  state_.failed = false;
  meet("recover, done", [] {});
}

double ThreadWorld::mark_us() {
  state_.streams.drain(0);
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
