// RaceDetector: an observer of the engine that decides, for every pair of conflicting accesses of a
// run, whether one happens before the other under the memory model of core/block.hpp. Exact for the
// first pair on each byte range of the run; independent of which order the run happened to take.
#pragma once

#include <set>
#include <string>

#include "backends/check/shadow.hpp"

namespace sym::check {

class RaceDetector : public fiber::Observer {
 public:
  explicit RaceDetector(fiber::Engine*& engine) : engine_(engine) {}

  void agent_made(fiber::Agent& agent) override;
  void access(fiber::Agent& agent, const fiber::Bytes& bytes, bool write, bool atomic) override;
  void synced(fiber::Agent& agent) override;
  void issued(fiber::Transfer& transfer) override;
  void source_read(fiber::Transfer& transfer, const fiber::Bytes& bytes) override;
  void destination_written(fiber::Transfer& transfer, const fiber::Bytes& bytes) override;
  std::shared_ptr<const fiber::Note> release(fiber::Agent& agent) override;
  void acquire(fiber::Agent& agent, const std::shared_ptr<const fiber::Note>& note) override;
  void fenced(fiber::Agent& agent, int pe) override;
  void completed(fiber::Agent& agent) override;
  void freed(const fiber::Bytes& bytes) override;

  std::size_t accesses() const { return accesses_; }

 private:
  void transfer_access(fiber::Transfer& transfer, const fiber::Bytes& bytes, bool write);
  void report_race(const Access& earlier, const Access& later, const fiber::Bytes& where);
  void report_missing_sync(const Access& earlier, const Access& later);
  std::string why_unordered(const Access& earlier, const Access& later) const;

  fiber::Engine*& engine_;
  Shadow shadow_;
  std::set<std::string> reported_;  // one finding for each pair of op sites
  std::size_t accesses_ = 0;
};

}  // namespace sym::check
