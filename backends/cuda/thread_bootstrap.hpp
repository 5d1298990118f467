// Bootstrap between the host threads of one process.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/bootstrap.hpp"

namespace sym::cuda {

// Where the PEs of one process meet. Outlives every ThreadBootstrap on it.
class ThreadMeeting {
 public:
  // deadline_s: how long a PE waits for the others; 0: for ever.
  ThreadMeeting(int n_pes, double deadline_s);
  std::vector<std::string> all_gather(int pe, const std::string& mine);
  // Makes every present and later meeting throw: a PE has ended with an error.
  void abandon(const std::string& why);
  int n_pes() const { return n_pes_; }

 private:
  std::string missing() const;

  const int n_pes_;
  const double deadline_s_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t round_ = 0;
  int arrived_ = 0;
  std::vector<char> here_;
  std::vector<std::string> incoming_;
  std::vector<std::string> complete_;
  std::string abandoned_;
};

class ThreadBootstrap : public Bootstrap {
 public:
  ThreadBootstrap(ThreadMeeting& meeting, int pe) : meeting_(meeting), pe_(pe) {}
  int pe() const override { return pe_; }
  int n_pes() const override { return meeting_.n_pes(); }
  std::vector<std::string> all_gather(const std::string& mine) override {
    return meeting_.all_gather(pe_, mine);
  }

 private:
  ThreadMeeting& meeting_;
  int pe_;
};

}  // namespace sym::cuda
