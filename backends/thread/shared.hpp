// What the PEs of a thread world share: the heap, the host barrier, and the first failure.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/signals.hpp"
#include "core/window.hpp"

namespace sym::thread {

// A reserved span of addresses for each PE; pages appear, zeroed, when they are touched.
class Heap {
 public:
  explicit Heap(int pes);
  ~Heap();
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;

  std::size_t allocate(std::size_t bytes);  // the offset, equal on all PEs; zeroed
  void free(std::size_t offset);            // throws UsageError unless it is a live allocation
  // Address of [offset, offset + bytes) on `pe`, or null if that lies outside what is allocated.
  std::byte* at(int pe, std::size_t offset, std::size_t bytes) const;

 private:
  std::vector<std::byte*> base_;
  std::map<std::size_t, std::size_t> live_;  // offset -> bytes
  std::map<std::size_t, std::size_t> free_;
  std::size_t end_ = 0;
};

// The n-th call of every PE is one meeting. Throws UsageError naming the PEs if they came for
// different things, Failure naming who did not come within `limit`.
class Meeting {
 public:
  Meeting(int pes, std::chrono::milliseconds limit)
      : what_(static_cast<std::size_t>(pes)), limit_(limit) {}
  // The last to arrive runs `once` before anybody leaves.
  template <class Once>
  void meet(int pe, const std::string& what, Once once);
  // A PE's program has ended with an error: nobody can meet any more.
  void give_up(int pe);

 private:
  void compare(int pe, const std::string& what);
  std::string absent() const;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> what_;
  std::size_t arrived_ = 0;
  std::uint64_t epoch_ = 0;
  int gave_up_ = -1;
  std::exception_ptr error_;  // what the last arrival found; everybody gets it
  std::chrono::milliseconds limit_;
};

// Why a block of this PE failed: the first reason counts.
struct Verdict {
  std::mutex mutex;
  std::optional<std::string> text;
  void set(const std::string& reason) {
    const std::lock_guard lock(mutex);
    if (!text) text = reason;
  }
};

struct ThreadOptions {
  int pes = 2;
  std::chrono::milliseconds wait_limit{10000};  // 0: none
};

struct Shared {
  explicit Shared(const ThreadOptions& o)
      : options(o),
        heap(o.pes),
        meeting(o.pes,
                o.wait_limit.count() == 0 ? std::chrono::hours(24 * 365) : 2 * o.wait_limit) {}
  ThreadOptions options;
  Heap heap;
  Meeting meeting;
  std::size_t allocated = 0;  // by the last allocation
};

}  // namespace sym::thread
