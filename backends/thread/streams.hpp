// The streams of one PE: operations in order on a thread each, marks between them, and captures.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "core/world.hpp"

namespace sym::thread {

// What one stream has reached, for others to wait for. Set once.
class Event {
 public:
  void set();
  void wait();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool set_ = false;
};

// Operations in order, on a thread of their own. They must not throw.
class Stream {
 public:
  Stream();
  void push(std::function<void()> operation);
  void drain();  // returns when all that was pushed has ended

 private:
  void work(const std::stop_token& stop);
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<std::function<void()>> queue_;
  std::jthread worker_;  // last: it uses the others, and is joined before they end
};

// Called by the PE's host thread only. Between begin_capture and end_capture operations are
// recorded instead of pushed.
//
// A stream that waits for a mark waits without a limit of its own, and yet not for ever: the mark
// was made before the wait was asked for, so waits form no cycle, and what a stream does before its
// mark (a kernel's waits, a take) ends within the limit of the World.
class Streams {
 public:
  // Throws UsageError unless there can be a stream of this number.
  static void require_number(int stream);
  void push(int stream, std::function<void()> operation);
  Mark record(int stream);
  void after(int stream, Mark mark);

  bool capturing() const { return capturing_; }
  void begin_capture();
  GraphId end_capture();
  // Ordered with stream 0 as a whole: it begins after what stream 0 has been given before, on all
  // its streams, and stream 0 goes on when all of them have ended.
  void replay(GraphId graph);

  void drain();
  void drain(int stream);

 private:
  enum class Kind { operation, record, after };
  struct Captured {
    int stream = 0;
    Kind kind = Kind::operation;
    std::function<void()> operation;  // empty: record or after
    std::int64_t mark = -1;
  };
  struct Made {
    int stream = 0;
    int graph = -1;                // -1: outside any capture
    std::shared_ptr<Event> event;  // null in a graph: each replay makes its own
  };
  Stream& at(int stream);
  std::shared_ptr<Event> push_record(int stream);
  void push_after(int stream, std::shared_ptr<Event> event);
  int current_graph() const { return capturing_ ? static_cast<int>(graphs_.size()) - 1 : -1; }

  std::map<int, std::unique_ptr<Stream>> streams_;
  std::vector<std::vector<Captured>> graphs_;
  std::map<std::int64_t, Made>
      marks_;  // by index; those outside captures until they have been drained
  std::int64_t next_mark_ = 0;
  bool capturing_ = false;
};

}  // namespace sym::thread
