// First-fit allocation of offsets in one heap. Pure host arithmetic: the same calls give the same
// offsets on every PE.
#pragma once

#include <cstddef>
#include <map>

namespace sym::cuda {

class SubAllocator {
 public:
  static constexpr std::size_t alignment_bytes = 256;
  static constexpr std::size_t none = ~std::size_t{0};

  explicit SubAllocator(std::size_t size_bytes) : size_bytes_(size_bytes), free_bytes_(size_bytes) {
    if (size_bytes > 0) free_[0] = size_bytes;
  }
  // The offset of `bytes` bytes (at least one alignment unit), or `none` if no gap is large enough.
  std::size_t allocate(std::size_t bytes);
  // Gives back what allocate returned; false if that is nothing allocated.
  bool free(std::size_t offset_bytes);
  std::size_t size_bytes() const { return size_bytes_; }
  std::size_t free_bytes() const { return free_bytes_; }
  std::size_t largest_gap_bytes() const;

 private:
  std::size_t size_bytes_;
  std::size_t free_bytes_;
  std::map<std::size_t, std::size_t> free_;  // offset to size, never adjacent
  std::map<std::size_t, std::size_t> used_;
};

}  // namespace sym::cuda
