// Memory: the symmetric heap of all PEs, as the engine sees it: allocations, and byte ranges in
// them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/window.hpp"

namespace sym::fiber {

// A range of somebody's memory. `space` is an allocation of the heap, with `begin` its byte offset
// in it; `local_space`: ordinary memory of the PE, with `begin` an address; or `scratch_space`: the
// scratch of one block, with `begin` the block's agent times `scratch_stride` and the offset in it.
struct Bytes {
  static constexpr int local_space = -1;
  static constexpr int scratch_space = -2;
  static constexpr int places_space = -3;  // no memory: the places for blocks of a PE
  static constexpr std::size_t scratch_stride = std::size_t{1} << 32;
  int pe = 0;
  int space = local_space;
  std::size_t begin = 0;
  std::size_t size = 0;
  std::byte* data = nullptr;  // null: no storage (a run without data)
  std::uint32_t element = 1;  // bytes of an element; 0: every lane of the block touches all of it

  std::size_t end() const { return begin + size; }
  Bytes part(std::size_t first, std::size_t bytes) const;
};

// Bytes next to an allocation that somebody has written.
struct Overrun {
  std::string name;          // of the allocation
  bool before = false;       // its beginning; else behind its end
  std::size_t distance = 0;  // how far from it, from 1
};

class Memory {
 public:
  // `payload_storage` false: payload and local memory have addresses but no bytes behind them.
  // `guarded`: allocations have bytes of a known value around them (large ones: behind them).
  Memory(int pes, bool payload_storage, bool guarded)
      : pes_(pes),
        payload_storage_(payload_storage),
        guarded_(guarded),
        guards_(static_cast<std::size_t>(pes)) {}
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  // Allocates zeroed memory on every PE; returns its offset in the segment. A gap follows each
  // allocation, so that an overrun is out of bounds and not the neighbour's data.
  // `name`: if it is not the program's own.
  std::size_t allocate(Segment segment, std::size_t bytes, const std::string& name = "");
  // The space that starts at (segment, offset). Throws UsageError unless it is a live allocation.
  int space_of(Segment segment, std::size_t offset) const;
  void free(int space);

  // The same in control memory, for words that all begin with one value. Above a gigabyte over all
  // PEs, words have no bytes behind them: what is counted is kept (a channel of N PEs has N^2 words
  // for each block, and an algorithm uses few).
  std::size_t allocate_words(std::size_t words, std::uint64_t first_value, const std::string& name);
  // A word of control memory that no peer writes. Valid until its allocation ends.
  std::uint64_t& own_word(const Bytes& bytes);
  bool sparse(int space) const {
    return space >= 0 && allocations_[static_cast<std::size_t>(space)].sparse;
  }
  bool is_control(int space) const {
    return space >= 0 && allocations_[static_cast<std::size_t>(space)].segment == Segment::control;
  }
  // The index-th 64 bits of a live allocation; null if it has no storage.
  std::uint64_t* word_at(int pe, int space, std::size_t index);

  // The bytes of a window's range on `pe`. Throws Failure, saying what is out of bounds or freed.
  Bytes resolve(Segment segment, std::size_t offset, std::size_t bytes, int pe) const;
  // Ordinary memory of `pe`, owned by this object until it ends.
  std::byte* local(int pe, std::size_t bytes);
  // Which of the PE's local arrays holds the address, in the order of its calls, and the offset in
  // it. (-1, 0): none of them.
  std::pair<int, std::size_t> local_place(int pe, std::uintptr_t address) const;
  // Whether something has been written around a live allocation or local array of the PE, since the
  // last time that this was asked. Always nothing where memory is not guarded.
  std::optional<Overrun> overrun(int pe);
  bool stores(Segment segment) const { return segment == Segment::control || payload_storage_; }
  bool payload_storage() const { return payload_storage_; }
  std::string name(int space) const;

 private:
  struct Allocation {
    Segment segment;
    std::size_t offset;
    std::size_t bytes;
    bool live;
    std::string name;
    std::vector<std::byte*> data;  // by PE; null without storage
    bool sparse = false;
    std::uint64_t first_value = 0;                                           // sparse: of each word
    std::vector<std::unordered_map<std::size_t, std::uint64_t>> words = {};  // sparse: by PE
  };
  struct Guard {
    std::byte* data = nullptr;
    std::size_t bytes = 0;
    int space = Bytes::local_space;
  };
  std::byte* make(int pe, std::size_t bytes, int space, bool in_huge_pages = true);
  void drop(int pe, std::byte* data, std::size_t bytes);
  Allocation named(Segment segment, std::size_t bytes, const std::string& name);
  std::size_t add(Allocation allocation);

  int pes_;
  bool payload_storage_;
  bool guarded_;
  std::vector<std::vector<Guard>> guards_;  // by PE
  std::size_t numbered_ = 0;                // allocations that are the program's own
  std::vector<Allocation> allocations_;
  std::map<std::size_t, int> by_offset_[2];  // for each segment
  std::size_t end_[2] = {0, 0};
  struct LocalArray {
    int pe = 0;
    std::byte* data = nullptr;
    std::size_t bytes = 0;
  };
  std::vector<LocalArray> locals_;
  std::uintptr_t next_fake_ = std::uintptr_t{1} << 46;  // addresses of memory without storage
};

}  // namespace sym::fiber
