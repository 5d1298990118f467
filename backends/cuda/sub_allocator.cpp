#include "backends/cuda/sub_allocator.hpp"

#include <algorithm>
#include <iterator>

namespace sym::cuda {

std::size_t SubAllocator::allocate(std::size_t bytes) {
  if (bytes > size_bytes_) return none;
  const std::size_t units =
      std::max<std::size_t>(1, (bytes + alignment_bytes - 1) / alignment_bytes);
  const std::size_t size = units * alignment_bytes;
  for (auto gap = free_.begin(); gap != free_.end(); ++gap) {
    if (gap->second < size) continue;
    const auto [offset, room] = *gap;
    free_.erase(gap);
    if (room > size) free_[offset + size] = room - size;
    used_[offset] = size;
    free_bytes_ -= size;
    return offset;
  }
  return none;
}

bool SubAllocator::free(std::size_t offset_bytes) {
  const auto found = used_.find(offset_bytes);
  if (found == used_.end()) return false;
  const std::size_t size = found->second;
  used_.erase(found);
  free_bytes_ += size;
  auto gap = free_.emplace(offset_bytes, size).first;
  const auto next = std::next(gap);
  if (next != free_.end() && gap->first + gap->second == next->first) {
    gap->second += next->second;
    free_.erase(next);
  }
  if (gap != free_.begin()) {
    const auto before = std::prev(gap);
    if (before->first + before->second == gap->first) {
      before->second += gap->second;
      free_.erase(gap);
    }
  }
  return true;
}

std::size_t SubAllocator::largest_gap_bytes() const {
  std::size_t largest = 0;
  for (const auto& gap : free_) largest = std::max(largest, gap.second);
  return largest;
}

}  // namespace sym::cuda
