// Recorder: the race detector of one execution, which also notes what each event touched and what
// it could not have come without.
#pragma once

#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "backends/check/footprint.hpp"
#include "backends/check/race_detector.hpp"

namespace sym::check {

class Recorder : public RaceDetector {
 public:
  explicit Recorder(fiber::Engine*& engine) : RaceDetector(engine), engine_(engine) {}

  // Around each event: its number in the execution, and the agent or transfer that makes it.
  void begin(std::size_t event, fiber::Agent& agent);
  void begin(std::size_t event, const fiber::Transfer& transfer);
  void end();
  // The transfer, which is whole now, was delivered by this event.
  void delivered(const fiber::Transfer& transfer);
  // A signal has arrived, in this event, or something else has written the word, which held
  // `before`.
  void arrived(const fiber::WordId& id, std::uint64_t before);
  // This event has let the agent go on.
  void woken(const fiber::Agent& agent);
  // The policy has been given the transfer.
  void handed_over(const fiber::Transfer& transfer);

  // Of the last event.
  Footprint touched;
  std::vector<std::size_t> after;

  void access(fiber::Agent& agent, const fiber::Bytes& bytes, bool write, bool atomic) override;
  void source_read(fiber::Transfer& transfer, const fiber::Bytes& bytes) override;
  void destination_written(fiber::Transfer& transfer, const fiber::Bytes& bytes) override;
  void received(fiber::Agent& agent, const fiber::Bytes& bytes, const fiber::Word& word) override;
  std::shared_ptr<const fiber::Note> release(fiber::Agent& agent) override;
  void acquire(fiber::Agent& agent, const std::shared_ptr<const fiber::Note>& note) override;
  void completed(fiber::Agent& agent) override;
  void word_read(fiber::Agent& agent, fiber::Word& word, std::uint64_t need, int shift,
                 bool counted) override;
  void word_written(fiber::Agent& agent, const fiber::Transfer* transfer, fiber::Word& word,
                    std::uint64_t before, bool added) override;
  void control(fiber::Agent& agent, const fiber::Bytes& bytes, bool write) override;

 private:
  using Events = std::vector<std::size_t>;
  struct AgentEvents {
    Events behind;  // what its next event comes after; of agents that never run: all they stand for
    bool moved = false;
    std::size_t last = 0;
  };
  // What later events may need to know of a transfer.
  struct Moved {
    std::size_t issued = 0;
    std::uint64_t payload = 0;  // order of the put that it follows
    Events delivered;           // empty: under way
    bool ordered = false;
    int to_pe = -1;
    std::uint64_t fence_epoch = 0;
    bool signal = false;
  };
  using Moves = std::map<std::uint64_t, Moved>;  // by order among the issuer's
  struct Released {
    std::shared_ptr<const fiber::Note> note;  // kept, so that no other gets its address
    Events events;
  };
  struct Arrival {
    std::size_t event = 0;
    std::uint64_t value = 0;  // of the word, after it
  };

  fiber::Engine*& engine_;
  std::size_t event_ = 0;
  const fiber::Agent* running_ = nullptr;
  std::map<const fiber::Agent*, AgentEvents> agents_;
  std::map<const fiber::Agent*, Moves> moves_;
  std::map<const fiber::Note*, Released> released_;
  std::map<std::tuple<int, int, std::size_t>, std::vector<Arrival>> arrivals_;
};

}  // namespace sym::check
