// Meeting::meet, apart from its class because it is a template.
#pragma once

#include "backends/thread/shared.hpp"
#include "core/error.hpp"

namespace sym::thread {

template <class Once>
void Meeting::meet(int pe, const std::string& what, Once once) {
  std::unique_lock lock(mutex_);
  const auto index = static_cast<std::size_t>(pe);
  what_[index] = what;
  if (++arrived_ == what_.size()) {
    compare(pe, what);
    try {
      if (error_ == nullptr) once();
    } catch (...) {
      error_ = std::current_exception();
    }
    ++epoch_;
    arrived_ = 0;
    for (auto& text : what_) text.clear();
    changed_.notify_all();
  } else {
    const std::uint64_t epoch = epoch_;
    const auto over = [&] { return epoch_ != epoch || gave_up_ >= 0; };
    if (!changed_.wait_for(lock, limit_, over)) {
      throw Failure("PE " + std::to_string(pe) + " waits in " + what + " for PE " + absent() +
                    ", which did not come within " + std::to_string(limit_.count()) + " ms");
    }
    if (epoch_ == epoch) {
      throw Failure("PE " + std::to_string(pe) + " waits in " + what + ", but the program of PE " +
                    std::to_string(gave_up_) + " has ended");
    }
  }
  if (error_ != nullptr) std::rethrow_exception(error_);
}

}  // namespace sym::thread
