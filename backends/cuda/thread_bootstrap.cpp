#include "backends/cuda/thread_bootstrap.hpp"

#include <chrono>

#include "core/error.hpp"

namespace sym::cuda {

ThreadMeeting::ThreadMeeting(int n_pes, double deadline_s)
    : n_pes_(n_pes),
      deadline_s_(deadline_s),
      here_(static_cast<std::size_t>(n_pes)),
      incoming_(static_cast<std::size_t>(n_pes)) {}

std::string ThreadMeeting::missing() const {
  std::string names;
  for (int pe = 0; pe < n_pes_; ++pe) {
    if (here_[static_cast<std::size_t>(pe)] == 0)
      names += (names.empty() ? "" : ", ") + std::to_string(pe);
  }
  return names;
}

std::vector<std::string> ThreadMeeting::all_gather(int pe, const std::string& mine) {
  std::unique_lock<std::mutex> lock(mutex_);
  if (!abandoned_.empty()) throw Failure(abandoned_);
  const std::uint64_t round = round_;
  here_[static_cast<std::size_t>(pe)] = 1;
  incoming_[static_cast<std::size_t>(pe)] = mine;
  if (++arrived_ == n_pes_) {
    complete_ = incoming_;
    here_.assign(here_.size(), 0);
    arrived_ = 0;
    ++round_;
    changed_.notify_all();
    return complete_;
  }
  const auto done = [&] { return round_ != round || !abandoned_.empty(); };
  if (deadline_s_ <= 0) {
    changed_.wait(lock, done);
  } else if (!changed_.wait_for(lock, std::chrono::duration<double>(deadline_s_), done)) {
    throw Failure("PE " + std::to_string(pe) + " waited " + std::to_string(deadline_s_) +
                  " s on the host for PEs that did not come: " + missing() +
                  " (SYM_BOOTSTRAP_S sets the limit)");
  }
  // A round is complete until every PE has come to the next one, so this copy is of the right
  // round.
  if (round_ != round) return complete_;
  throw Failure(abandoned_);
}

void ThreadMeeting::abandon(const std::string& why) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (abandoned_.empty()) abandoned_ = why;
  changed_.notify_all();
}

}  // namespace sym::cuda
