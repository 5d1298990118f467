#include "backends/thread/streams.hpp"

#include <string>
#include <utility>

namespace sym::thread {

void Event::set() {
  const std::lock_guard lock(mutex_);
  set_ = true;
  changed_.notify_all();
}

void Event::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return set_; });
}

Stream::Stream() : worker_([this](const std::stop_token& stop) { work(stop); }) {}

void Stream::push(std::function<void()> operation) {
  const std::lock_guard lock(mutex_);
  queue_.push_back(std::move(operation));
  changed_.notify_all();
}

void Stream::drain() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return queue_.empty(); });
}

void Stream::work(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [this] { return !queue_.empty(); })) {
    const std::function<void()> operation = queue_.front();
    lock.unlock();
    operation();
    lock.lock();
    queue_.pop_front();  // only now: drain() waits for the end, not for the beginning
    changed_.notify_all();
  }
}

void Streams::require_number(int stream) {
  constexpr int last = 63;
  if (stream >= 0 && stream <= last) return;
  throw UsageError("stream " + std::to_string(stream) + ": streams are 0 to " +
                   std::to_string(last));
}

Stream& Streams::at(int stream) {
  auto& found = streams_[stream];
  if (found == nullptr) found = std::make_unique<Stream>();
  return *found;
}

void Streams::push(int stream, std::function<void()> operation) {
  if (capturing_) {
    graphs_.back().push_back({stream, Kind::operation, std::move(operation), -1});
  } else {
    at(stream).push(std::move(operation));
  }
}

std::shared_ptr<Event> Streams::push_record(int stream) {
  auto event = std::make_shared<Event>();
  at(stream).push([event] { event->set(); });
  return event;
}

void Streams::push_after(int stream, std::shared_ptr<Event> event) {
  at(stream).push([event = std::move(event)] { event->wait(); });
}

Mark Streams::record(int stream) {
  const std::int64_t index = next_mark_++;
  if (capturing_) {
    graphs_.back().push_back({stream, Kind::record, {}, index});
    marks_[index] = {stream, current_graph(), nullptr};
  } else {
    marks_[index] = {stream, -1, push_record(stream)};
  }
  return Mark{index};
}

void Streams::after(int stream, Mark mark) {
  if (mark.index < 0 || mark.index >= next_mark_) {
    throw UsageError("after: mark " + std::to_string(mark.index) +
                     " was not made by record() of a queue of this PE");
  }
  const auto found = marks_.find(mark.index);
  const int graph = found == marks_.end() ? -1 : found->second.graph;
  if (graph != current_graph()) {
    throw UsageError("after: mark " + std::to_string(mark.index) +
                     (graph < 0 ? " was made outside this capture" : " was made in a capture") +
                     "; record and after must be in the same capture, or outside any");
  }
  if (found == marks_.end() || found->second.stream == stream) return;  // over, or in order anyway
  if (capturing_) {
    graphs_.back().push_back({stream, Kind::after, {}, mark.index});
  } else {
    push_after(stream, found->second.event);
  }
}

void Streams::begin_capture() {
  if (capturing_) throw UsageError("begin_capture: a capture is under way; end it first");
  capturing_ = true;
  graphs_.emplace_back();
}

GraphId Streams::end_capture() {
  if (!capturing_) throw UsageError("end_capture: no capture is under way");
  capturing_ = false;
  return GraphId{static_cast<int>(graphs_.size()) - 1};
}

void Streams::replay(GraphId graph) {
  if (capturing_) throw UsageError("replay: a capture is under way; end it first");
  if (graph.index < 0 || static_cast<std::size_t>(graph.index) >= graphs_.size()) {
    throw UsageError("replay: no such graph");
  }
  const std::vector<Captured>& operations = graphs_[static_cast<std::size_t>(graph.index)];
  std::set<int> used;
  for (const Captured& one : operations) used.insert(one.stream);
  used.erase(0);
  if (!used.empty()) {
    const auto begin = push_record(0);
    for (const int stream : used) push_after(stream, begin);
  }
  std::map<std::int64_t, std::shared_ptr<Event>> events;  // of this replay, by mark
  for (const Captured& one : operations) {
    switch (one.kind) {
      case Kind::operation:
        at(one.stream).push(one.operation);
        break;
      case Kind::record:
        events[one.mark] = push_record(one.stream);
        break;
      case Kind::after:
        push_after(one.stream, events.at(one.mark));
        break;
    }
  }
  for (const int stream : used) push_after(0, push_record(stream));
}

void Streams::drain() {
  for (auto& [number, stream] : streams_) stream->drain();
  std::erase_if(marks_, [](const auto& mark) { return mark.second.graph < 0; });
}

void Streams::drain(int stream) {
  const auto found = streams_.find(stream);
  if (found != streams_.end()) found->second->drain();
}

}  // namespace sym::thread
