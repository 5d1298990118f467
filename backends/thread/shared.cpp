#include "backends/thread/shared.hpp"

#include <sys/mman.h>

#include <string>

#include "core/error.hpp"

namespace sym::thread {

namespace {
constexpr std::size_t span_bytes = std::size_t{1} << 36;  // of addresses, for each PE
constexpr std::size_t page_bytes = 4096;
}  // namespace

Heap::Heap(int pes) {
  for (int pe = 0; pe < pes; ++pe) {
    void* span = mmap(nullptr, span_bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (span == MAP_FAILED) {
      throw Unavailable("no addresses for the heap of PE " + std::to_string(pe) + " (64 GiB a PE)");
    }
    base_.push_back(static_cast<std::byte*>(span));
  }
}

Heap::~Heap() {
  for (std::byte* base : base_) munmap(base, span_bytes);
}

std::size_t Heap::allocate(std::size_t bytes) {
  const std::size_t size = (bytes / page_bytes + 1) * page_bytes;  // never empty
  for (auto hole = free_.begin(); hole != free_.end(); ++hole) {
    const auto [offset, room] = *hole;
    if (room < size) continue;
    free_.erase(hole);
    if (room > size) free_[offset + size] = room - size;
    live_[offset] = size;
    return offset;
  }
  if (size > span_bytes - end_) {
    throw Unavailable("the heap is full: " + std::to_string(size) +
                      " bytes asked, in whole pages, " + std::to_string(span_bytes - end_) +
                      " left on each PE");
  }
  const std::size_t offset = end_;
  end_ += size;
  live_[offset] = size;
  return offset;
}

void Heap::free(std::size_t offset) {
  const auto found = live_.find(offset);
  if (found == live_.end()) {
    throw UsageError(
        "free: offset " + std::to_string(offset) +
        " is not the start of a live allocation; pass the window that allocate returned");
  }
  for (std::byte* base : base_) madvise(base + offset, found->second, MADV_DONTNEED);  // zero again
  auto hole = free_.emplace(offset, found->second).first;
  live_.erase(found);
  const auto next = std::next(hole);
  if (next != free_.end() && hole->first + hole->second == next->first) {
    hole->second += next->second;
    free_.erase(next);
  }
  if (hole == free_.begin()) return;
  const auto before = std::prev(hole);
  if (before->first + before->second != hole->first) return;
  before->second += hole->second;
  free_.erase(hole);
}

std::byte* Heap::at(int pe, std::size_t offset, std::size_t bytes) const {
  if (pe < 0 || static_cast<std::size_t>(pe) >= base_.size()) return nullptr;
  if (offset > end_ || bytes > end_ - offset) return nullptr;
  return base_[static_cast<std::size_t>(pe)] + offset;
}

void Meeting::compare(int pe, const std::string& what) {
  for (std::size_t other = 0; other < what_.size(); ++other) {
    if (what_[other] == what) continue;
    const std::string text = "PEs disagree: PE " + std::to_string(pe) + " calls " + what + ", PE " +
                             std::to_string(other) + " calls " + what_[other] +
                             "; collectives must be called in the same order with equal arguments";
    error_ = std::make_exception_ptr(UsageError(text));
  }
}

std::string Meeting::absent() const {
  std::string names;
  for (std::size_t pe = 0; pe < what_.size(); ++pe) {
    if (what_[pe].empty()) names += (names.empty() ? "" : ", ") + std::to_string(pe);
  }
  return names;
}

void Meeting::give_up(int pe) {
  const std::lock_guard lock(mutex_);
  gave_up_ = pe;
  changed_.notify_all();
}

}  // namespace sym::thread
