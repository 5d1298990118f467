#include "backends/thread/queue.hpp"

#include <exception>
#include <utility>

namespace sym::thread {

namespace {

void run_blocks(PeState& state, const LaunchConfig& config,
                const std::function<void(ThreadBlock&)>& body) {
  std::vector<std::jthread> blocks;
  for (int index = 0; index < config.blocks; ++index) {
    blocks.emplace_back([&state, &config, &body, index] {
      try {
        ThreadBlock block(state.shared, state.verdict, state.failed,
                          {state.pe, index, config.blocks, config.name, config.scratch_bytes});
        body(block);
      } catch (const std::exception& error) {
        state.fail(std::string("exception in ") + config.name + ": " + error.what());
      }
    });
  }
}

}  // namespace

void PeState::throw_verdict() {
  if (!failed) return;
  const std::lock_guard lock(verdict.mutex);
  throw Failure(verdict.text.value_or("a block failed"));
}

void PeState::fail(const std::string& reason) {
  verdict.set(reason);
  failed = true;
}

void ThreadQueue::begin(const LaunchConfig& config, std::function<void(ThreadBlock&)> body) {
  if (config.blocks < 1) throw UsageError("launch: blocks must be at least 1");
  constexpr int most_threads = 4096;
  if (config.blocks > most_threads / n_pes()) {
    throw UsageError("launch: " + std::to_string(config.blocks) + " blocks on each of " +
                     std::to_string(n_pes()) + " PEs; a thread world runs at most " +
                     std::to_string(most_threads) + " blocks at a time");
  }
  if (!state_.streams.capturing()) state_.throw_verdict();
  state_.streams.push(number_, [&state = state_, config, body = std::move(body)] {
    run_blocks(state, config, body);
  });
}

void ThreadQueue::enqueue(std::string name, std::function<void()> operation) {
  if (!state_.streams.capturing()) state_.throw_verdict();
  state_.streams.push(number_,
                      [&state = state_, name = std::move(name), operation = std::move(operation)] {
                        if (state.failed) return;
                        try {
                          operation();
                        } catch (const std::exception& error) {
                          state.fail("exception in " + name + ": " + error.what());
                        }
                      });
}

void ThreadQueue::expired(const std::string& what, Site site) {
  state_.fail(what + "; PE " + std::to_string(state_.pe) + " queue " + std::to_string(number_) +
              " at " + site.file + ":" + std::to_string(site.line));
}

void ThreadQueue::require_pe(const char* name, int pe) const {
  if (pe >= 0 && pe < n_pes()) return;
  throw UsageError(std::string(name) + ": PE " + std::to_string(pe) + " is no PE of 0.." +
                   std::to_string(n_pes() - 1));
}

std::byte* ThreadQueue::bytes_at(const char* name, std::size_t offset, std::size_t bytes,
                                 int pe) const {
  std::byte* at = state_.shared.heap.at(pe, offset, bytes);
  if (at != nullptr) return at;
  throw UsageError(std::string(name) + ": a window of " + std::to_string(bytes) +
                   " bytes lies outside the heap of PE " + std::to_string(pe) +
                   "; pass one that allocate returned");
}

// The flag that `from` sets at `at`.
std::uint64_t* ThreadQueue::flag(const char* name, const Posts& posts, std::size_t slot, int from,
                                 int at) {
  require_pe(name, from);
  require_pe(name, at);
  if (slot >= posts.slots) {
    throw UsageError(std::string(name) + ": slot " + std::to_string(slot) + " of posts with " +
                     std::to_string(posts.slots) + " slots");
  }
  return address(name, posts.words.at(posts.word(slot, from)), 1, at);
}

void ThreadQueue::post(const Posts& posts, std::size_t slot, int pe, Site site) {
  std::uint64_t* word = flag("post", posts, slot, state_.pe, pe);
  enqueue("post", [this, word, slot, pe, site] {
    // What this queue did before is released by the exchange, what its launches' blocks did too:
    // they have been joined.
    if (std::atomic_ref(*word).exchange(1, std::memory_order_acq_rel) == 0) return;
    expired("post: the flag of slot " + std::to_string(slot) + " at PE " + std::to_string(pe) +
                " has not been taken",
            site);
  });
}

void ThreadQueue::take(const Posts& posts, std::size_t slot, int pe, Site site) {
  std::uint64_t* word = flag("take", posts, slot, pe, state_.pe);
  enqueue("take", [this, word, slot, pe, site] {
    const std::atomic_ref<std::uint64_t> posted(*word);
    const auto limit = state_.shared.options.wait_limit;
    const auto start = std::chrono::steady_clock::now();
    constexpr int eager = 256;  // looks before this thread leaves the cores to those who work
    for (int looks = 0; posted.load(std::memory_order_acquire) == 0; ++looks) {
      if (state_.failed) return;
      if (looks < eager) {
        std::this_thread::yield();
        continue;
      }
      std::this_thread::sleep_for(std::chrono::microseconds(50));
      looks = eager;
      if (limit.count() == 0 || std::chrono::steady_clock::now() - start < limit) continue;
      expired("wait expired after " + std::to_string(limit.count()) + " ms in take: missing PE " +
                  std::to_string(pe) + ", slot " + std::to_string(slot),
              site);
      return;
    }
    posted.store(0, std::memory_order_release);
  });
}

Mark ThreadQueue::record() { return state_.streams.record(number_); }

void ThreadQueue::after(Mark mark) { state_.streams.after(number_, mark); }

}  // namespace sym::thread
