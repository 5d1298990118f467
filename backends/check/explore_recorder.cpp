#include "backends/check/explore_recorder.hpp"

#include <algorithm>
#include <utility>

namespace sym::check {

using fiber::Agent;
using fiber::Transfer;

namespace {
void add(std::vector<std::size_t>& to, const std::vector<std::size_t>& from) {
  to.insert(to.end(), from.begin(), from.end());
}
// Those that are left of what was gathered bit by bit.
void tidy(std::vector<std::size_t>& events) {
  std::sort(events.begin(), events.end());
  events.erase(std::unique(events.begin(), events.end()), events.end());
}
}  // namespace

void Recorder::begin(std::size_t event, Agent& agent) {
  event_ = event;
  running_ = &agent;
  touched = {};
  AgentEvents& mine = agents_[&agent];
  after = std::exchange(mine.behind, {});
  mine.moved = true;
  mine.last = event;
}

void Recorder::begin(std::size_t event, const Transfer& transfer) {
  event_ = event;
  running_ = nullptr;
  touched = {};
  after = {moves_[transfer.issuer][transfer.order].issued};
}

void Recorder::end() { running_ = nullptr; }

void Recorder::woken(const Agent& agent) { agents_[&agent].behind.push_back(event_); }

void Recorder::handed_over(const Transfer& transfer) {
  Moved& moved = moves_[transfer.issuer][transfer.order];
  moved.issued = event_;
  moved.payload = transfer.payload != nullptr ? transfer.payload->order : 0;
  moved.ordered = transfer.kind != Transfer::Kind::get && !transfer.packet;
  moved.to_pe = transfer.target();
  moved.fence_epoch = transfer.fence_epoch;
  moved.signal = transfer.kind == Transfer::Kind::signal;
}

// The payload of a put_signal comes before its signal; what fences put before it, too.
void Recorder::delivered(const Transfer& transfer) {
  Moves& moves = moves_[transfer.issuer];
  Moved& mine = moves[transfer.order];
  if (mine.payload != 0) add(after, moves[mine.payload].delivered);
  if (mine.ordered) {
    for (const auto& [order, other] : moves) {
      const bool before =
          other.ordered && other.to_pe == mine.to_pe && other.fence_epoch < mine.fence_epoch;
      if (before) add(after, other.delivered);
    }
  }
  mine.delivered.push_back(event_);
}

void Recorder::arrived(const fiber::WordId& id, std::uint64_t before) {
  touched.touches.push_back(
      {Touch::Kind::word, true, id.pe, id.space, id.index, id.index + 1, before, 0});
  arrivals_[{id.pe, id.space, id.index}].push_back({event_, engine_->word(id).value()});
}

void Recorder::access(Agent& agent, const fiber::Bytes& bytes, bool write, bool atomic) {
  touched.add(engine_->memory(), bytes, write);
  RaceDetector::access(agent, bytes, write, atomic);
}

void Recorder::source_read(Transfer& transfer, const fiber::Bytes& bytes) {
  touched.add(engine_->memory(), bytes, false);
  RaceDetector::source_read(transfer, bytes);
}

void Recorder::destination_written(Transfer& transfer, const fiber::Bytes& bytes) {
  touched.add(engine_->memory(), bytes, true);
  RaceDetector::destination_written(transfer, bytes);
}

void Recorder::received(Agent& agent, const fiber::Bytes& bytes, const fiber::Word& word) {
  touched.add(engine_->memory(), bytes, false);
  RaceDetector::received(agent, bytes, word);
}

std::shared_ptr<const fiber::Note> Recorder::release(Agent& agent) {
  auto note = RaceDetector::release(agent);
  Events events;
  if (&agent == running_) {
    events = {event_};
  } else {
    AgentEvents& other = agents_[&agent];
    tidy(other.behind);
    events = other.behind;
    if (other.moved) events.push_back(other.last);
  }
  if (note != nullptr) released_[note.get()] = {note, std::move(events)};
  return note;
}

void Recorder::acquire(Agent& agent, const std::shared_ptr<const fiber::Note>& note) {
  RaceDetector::acquire(agent, note);
  const auto found = released_.find(note.get());
  if (found == released_.end()) return;  // a signal's: its delivery says it all
  // An agent that has just ended is made ready for its next launch within its last event.
  const bool now = &agent == running_ && agent.state == Agent::State::running;
  add(now ? after : agents_[&agent].behind, found->second.events);
}

// What the agent issued has been delivered; a queue's copies do not wait for its flags.
void Recorder::completed(Agent& agent) {
  RaceDetector::completed(agent);
  Moves& moves = moves_[&agent];
  for (auto at = moves.begin(); at != moves.end();) {
    const bool keep = at->second.delivered.empty() || (agent.payload_only && at->second.signal);
    if (!keep) add(after, at->second.delivered);
    at = keep ? std::next(at) : moves.erase(at);
  }
}

void Recorder::word_written(Agent& agent, const Transfer* transfer, fiber::Word& word,
                            std::uint64_t before, bool added) {
  RaceDetector::word_written(agent, transfer, word, before, added);
  arrived(word.history.id, before);
}

void Recorder::word_read(Agent& agent, fiber::Word& word, std::uint64_t need, int shift,
                         bool counted) {
  RaceDetector::word_read(agent, word, need, shift, counted);
  const fiber::WordId& id = word.history.id;
  if (!counted) {
    touched.touches.push_back(
        {Touch::Kind::word, false, id.pe, id.space, id.index, id.index + 1, need, shift});
    return;
  }
  // A word of one producer, of which the agent takes what it waited for and no more. It does not
  // look at what has come since, so the order of the two is nothing to anybody. Of other verbs that
  // write the word it is.
  touched.touches.push_back(
      {Touch::Kind::taken, false, id.pe, id.space, id.index, id.index + 1, 0, 0});
  for (const Arrival& arrival : arrivals_[{id.pe, id.space, id.index}]) {
    after.push_back(arrival.event);
    if (word.reaches(arrival.value, need, shift)) return;
  }
}

void Recorder::control(Agent& agent, const fiber::Bytes& bytes, bool write) {
  RaceDetector::control(agent, bytes, write);
  touched.touches.push_back(
      {Touch::Kind::control, write, bytes.pe, bytes.space, bytes.begin, bytes.end(), 0, 0});
}

}  // namespace sym::check
