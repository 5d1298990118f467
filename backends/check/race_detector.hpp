// RaceDetector: an observer of the engine that decides, for every pair of conflicting accesses of a
// run, whether one happens before the other under the memory model of core/block.hpp. Exact for the
// first pair on each byte range of the run; independent of which order the run happened to take.
//
// What a wait acquires may depend on signals that are issued after it
// (backends/check/counting.hpp). When a run has shown that, look_again() says so: make the same run
// again, under the same schedule, with a new detector and the same Foresight, and take that run's
// findings.
#pragma once

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "backends/check/counting.hpp"
#include "backends/check/letters.hpp"
#include "backends/check/race_report.hpp"
#include "backends/check/shadow.hpp"

namespace sym::check {

class RaceDetector : public fiber::Observer {
 public:
  explicit RaceDetector(fiber::Engine*& engine) : engine_(engine), foresight_(own_) {}
  RaceDetector(fiber::Engine*& engine, Foresight& foresight)
      : engine_(engine), foresight_(foresight) {}

  void agent_made(fiber::Agent& agent) override;
  void access(fiber::Agent& agent, const fiber::Bytes& bytes, bool write, bool atomic) override;
  void synced(fiber::Agent& agent) override;
  void parted(fiber::Agent& agent) override;
  void issued(fiber::Transfer& transfer) override;
  void source_read(fiber::Transfer& transfer, const fiber::Bytes& bytes) override;
  void destination_written(fiber::Transfer& transfer, const fiber::Bytes& bytes) override;
  void received(fiber::Agent& agent, const fiber::Bytes& bytes, const fiber::Word& word) override;
  std::shared_ptr<const fiber::Note> release(fiber::Agent& agent) override;
  void acquire(fiber::Agent& agent, const std::shared_ptr<const fiber::Note>& note) override;
  void waited(fiber::Agent& agent, fiber::Word& word, std::uint64_t value, int shift,
              bool consume) override;
  void fenced(fiber::Agent& agent, int pe) override;
  void completed(fiber::Agent& agent) override;
  void settled() override;
  void signalled(fiber::Transfer& transfer) override;
  void word_read(fiber::Agent& agent, fiber::Word& word, std::uint64_t need, int shift,
                 bool counted) override;
  void word_written(fiber::Agent& agent, const fiber::Transfer* transfer, fiber::Word& word,
                    std::uint64_t before, bool added) override;
  // What a block has sent and seen is counted in plain memory, a word for each row and peer: two
  // blocks that use one row must be ordered. That a channel is busy is said by its own finding.
  void control(fiber::Agent& agent, const fiber::Bytes& bytes, bool write) override;

  std::size_t accesses() const { return accesses_; }
  // Some wait might have counted a signal that came later and that this detector did not know of.
  bool look_again() const { return look_again_; }
  // What clocks, shadow and signals take now, about; and the most that they took at a settled().
  std::size_t bytes() const;
  std::size_t most_bytes() const { return std::max(most_bytes_, bytes()); }

 private:
  void record(fiber::Agent& agent, const std::shared_ptr<Access>& access);
  void issued_packet(fiber::Transfer& transfer);
  void issued_signal(fiber::Transfer& transfer, std::uint64_t fenced);
  void check_post(const fiber::Agent& agent, const fiber::Transfer& transfer,
                  const Counted& counted);
  void check_written(const fiber::Agent& agent, const Access& access);
  AgentId number(const fiber::Agent& agent);
  bool is_data(int space) const;
  // Made when it is asked for first, when the word has `value`.
  Counted& counted_of(fiber::Word& word, std::uint64_t value);
  void touch_words(const Access& access, const Toucher& touch);
  static Toucher toucher_of(const fiber::Agent& agent);
  static Toucher toucher_of(const fiber::Transfer& transfer, bool write);
  void transfer_access(fiber::Transfer& transfer, const fiber::Bytes& bytes, bool write);
  void report_race(const Access& earlier, const Access& later, const fiber::Bytes& where);
  void report_missing_sync(const Access& earlier, const Access& later);
  const fiber::Agent& agent_of(const Access& access) const;
  bool lapped(const Access& earlier, const Access& later) const;
  Behind behind_of(const Access& transfer, const Access& other) const;
  std::string memory_of(const fiber::Bytes& bytes) const;
  bool is_new(const char* kind, const Site& earlier, const Site& later);

  fiber::Engine*& engine_;
  Foresight own_;  // of a run that is not made again
  Foresight& foresight_;
  bool look_again_ = false;
  bool parts_lanes_ = false;  // some verb runs without the sync in it
  Shadow shadow_;
  Letters letters_;
  Clock::Pool pool_;
  // Agents made so far, by PE, stream and block; and those of all PEs that are numbered together.
  std::map<std::tuple<int, int, int>, int> made_;
  std::map<std::tuple<bool, int, int, int>, std::size_t> groups_;
  std::vector<Counted*> counted_;   // those of all words
  std::vector<char> data_;          // by space: touched as data since settled()
  std::set<std::string> reported_;  // one finding for each pair of op sites
  std::size_t accesses_ = 0;
  std::size_t most_bytes_ = 0;
};

}  // namespace sym::check
