#include "backends/fiber/memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

#include "core/error.hpp"

namespace sym::fiber {

namespace {
constexpr std::size_t alignment = 256;
constexpr std::size_t gap = 4096;
constexpr std::size_t huge = std::size_t{2} << 20;

constexpr std::size_t most_dense = std::size_t{1} << 30;  // of words, over all PEs

#if defined(__SANITIZE_ADDRESS__)
constexpr std::size_t guard = 0;  // the sanitizer's own are better: it sees reads as well
constexpr std::size_t mapped = huge;
#else
constexpr std::size_t guard = 128;
constexpr std::size_t mapped = std::size_t{256} << 10;  // a calloc may write all that it returns
#endif

// What a guard holds: no number that programs write, and not the same from byte to byte.
const std::byte* untouched() {
  static const auto bytes = [] {
    std::array<std::byte, guard + 1> all{};
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::byte>(0xC5 ^ (i * 37));
    return all;
  }();
  return bytes.data();
}

std::size_t guard_before(std::size_t bytes, std::size_t around) {
  return bytes < huge ? around : 0;
}

// Fresh pages are zero and cost nothing until they are touched; large ones in huge pages, where the
// kernel has them. Not control memory, of which a few words in many pages are used. `around`: bytes
// behind it, and before it unless it is large.
std::byte* zeroed(std::size_t bytes, std::size_t around, bool in_huge_pages) {
  const std::size_t before = guard_before(bytes, around);
  const std::size_t all = before + bytes + around;
  void* data = bytes < mapped ? std::calloc(all + 1, 1)
                              : mmap(nullptr, all, PROT_READ | PROT_WRITE,
                                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (data == nullptr || data == MAP_FAILED) {
    throw Unavailable("no memory for an allocation of " + std::to_string(bytes) +
                      " bytes on each PE; sim without data (--no-data) needs none");
  }
  if (bytes >= huge && in_huge_pages) madvise(data, bytes, MADV_HUGEPAGE);
  std::byte* const begin = static_cast<std::byte*>(data) + before;
  std::memcpy(data, untouched(), before);
  std::memcpy(begin + bytes, untouched(), around);
  return begin;
}

void release(std::byte* data, std::size_t bytes, std::size_t around) {
  if (data == nullptr) return;
  const std::size_t before = guard_before(bytes, around);
  if (bytes < mapped) {
    std::free(data - before);
  } else {
    munmap(data - before, before + bytes + around);
  }
}

// The byte of a guard that is not as it was, or none; and it is again.
std::optional<std::size_t> touched(std::byte* at) {
  if (std::memcmp(at, untouched(), guard) == 0) return std::nullopt;
  const auto first = std::mismatch(at, at + guard, untouched()).first - at;
  std::memcpy(at, untouched(), guard);
  return static_cast<std::size_t>(first);
}
}  // namespace

Bytes Bytes::part(std::size_t first, std::size_t bytes) const {
  Bytes piece = *this;
  piece.begin += first;
  piece.size = bytes;
  if (data != nullptr) piece.data = data + first;
  return piece;
}

Memory::~Memory() {
  const std::size_t around = guarded_ ? guard : 0;
  for (const Allocation& allocation : allocations_) {
    for (std::byte* data : allocation.data) release(data, allocation.bytes, around);
  }
  for (const LocalArray& local : locals_) release(local.data, local.bytes, around);
}

std::byte* Memory::make(int pe, std::size_t bytes, int space, bool in_huge_pages) {
  std::byte* const data = zeroed(bytes, guarded_ ? guard : 0, in_huge_pages);
  if (guarded_ && guard > 0) guards_[static_cast<std::size_t>(pe)].push_back({data, bytes, space});
  return data;
}

void Memory::drop(int pe, std::byte* data, std::size_t bytes) {
  std::erase_if(guards_[static_cast<std::size_t>(pe)],
                [data](const Guard& one) { return one.data == data; });
  release(data, bytes, guarded_ ? guard : 0);
}

std::optional<Overrun> Memory::overrun(int pe) {
  for (const Guard& one : guards_[static_cast<std::size_t>(pe)]) {
    const auto name = [&] {
      if (one.space != Bytes::local_space) return this->name(one.space);
      const auto place = local_place(pe, reinterpret_cast<std::uintptr_t>(one.data));
      return "local array #" + std::to_string(place.first);
    };
    if (const auto at = touched(one.data + one.bytes)) return Overrun{name(), false, *at + 1};
    if (one.bytes >= huge) continue;
    if (const auto at = touched(one.data - guard)) return Overrun{name(), true, guard - *at};
  }
  return std::nullopt;
}

Memory::Allocation Memory::named(Segment segment, std::size_t bytes, const std::string& name) {
  Allocation allocation{segment, 0, bytes, true, name, {}};
  if (name.empty()) {
    allocation.name = std::string(segment == Segment::control ? "control" : "payload") +
                      " allocation #" + std::to_string(numbered_++);
  }
  return allocation;
}

std::size_t Memory::add(Allocation allocation) {
  const int segment = static_cast<int>(allocation.segment);
  std::size_t& end = end_[segment];
  allocation.offset = end;
  end = (end + allocation.bytes + gap + alignment - 1) / alignment * alignment;
  by_offset_[segment][allocation.offset] = static_cast<int>(allocations_.size());
  allocations_.push_back(std::move(allocation));
  return allocations_.back().offset;
}

std::size_t Memory::allocate(Segment segment, std::size_t bytes, const std::string& name) {
  Allocation allocation = named(segment, bytes, name);
  if (stores(segment)) {
    for (int pe = 0; pe < pes_; ++pe) {
      allocation.data.push_back(
          make(pe, bytes, static_cast<int>(allocations_.size()), segment == Segment::payload));
    }
  }
  return add(std::move(allocation));
}

std::size_t Memory::allocate_words(std::size_t words, std::uint64_t first_value,
                                   const std::string& name) {
  const std::size_t bytes = words * sizeof(std::uint64_t);
  const auto pes = static_cast<std::size_t>(pes_);
  if (bytes <= most_dense / pes) {
    const std::size_t offset = allocate(Segment::control, bytes, name);
    for (std::byte* data : allocations_.back().data) {
      if (first_value != 0) std::fill_n(reinterpret_cast<std::uint64_t*>(data), words, first_value);
    }
    return offset;
  }
  Allocation allocation = named(Segment::control, bytes, name);
  allocation.sparse = true;
  allocation.first_value = first_value;
  allocation.words.resize(pes);
  return add(std::move(allocation));
}

std::uint64_t& Memory::own_word(const Bytes& bytes) {
  if (bytes.data != nullptr) return *reinterpret_cast<std::uint64_t*>(bytes.data);
  return *word_at(bytes.pe, bytes.space, bytes.begin / sizeof(std::uint64_t));
}

int Memory::space_of(Segment segment, std::size_t offset) const {
  const auto& offsets = by_offset_[static_cast<int>(segment)];
  const auto found = offsets.find(offset);
  if (found == offsets.end() || !allocations_[static_cast<std::size_t>(found->second)].live) {
    throw UsageError(
        "free: offset " + std::to_string(offset) +
        " is not the start of a live allocation; pass the window that allocate returned");
  }
  return found->second;
}

void Memory::free(int space) {
  Allocation& allocation = allocations_[static_cast<std::size_t>(space)];
  allocation.live = false;
  for (std::size_t pe = 0; pe < allocation.data.size(); ++pe) {
    drop(static_cast<int>(pe), allocation.data[pe], allocation.bytes);
  }
  allocation.data.clear();
  allocation.words.clear();
}

std::uint64_t* Memory::word_at(int pe, int space, std::size_t index) {
  Allocation& allocation = allocations_[static_cast<std::size_t>(space)];
  if (allocation.sparse) {  // the address of what a map holds stays
    auto& words = allocation.words[static_cast<std::size_t>(pe)];
    return &words.try_emplace(index, allocation.first_value).first->second;
  }
  if (allocation.data.empty()) return nullptr;
  return reinterpret_cast<std::uint64_t*>(allocation.data[static_cast<std::size_t>(pe)]) + index;
}

Bytes Memory::resolve(Segment segment, std::size_t offset, std::size_t bytes, int pe) const {
  if (pe < 0 || pe >= pes_) {
    throw Failure("out of bounds: PE " + std::to_string(pe) + " of " + std::to_string(pes_));
  }
  const auto& offsets = by_offset_[static_cast<int>(segment)];
  auto found = offsets.upper_bound(offset);
  if (found == offsets.begin()) throw Failure("out of bounds: a window that was never allocated");
  --found;
  const Allocation& allocation = allocations_[static_cast<std::size_t>(found->second)];
  const std::size_t begin = offset - allocation.offset;
  if (begin > allocation.bytes || bytes > allocation.bytes - begin) {
    throw Failure("out of bounds: bytes [" + std::to_string(begin) + ", " +
                  std::to_string(begin + bytes) + ") of " + name(found->second) + " of " +
                  std::to_string(allocation.bytes) + " bytes on PE " + std::to_string(pe));
  }
  if (!allocation.live) {
    throw Failure("use after free: " + name(found->second) + " on PE " + std::to_string(pe));
  }
  std::byte* data =
      allocation.data.empty() ? nullptr : allocation.data[static_cast<std::size_t>(pe)] + begin;
  return Bytes{pe, found->second, begin, bytes, data, 1};
}

std::byte* Memory::local(int pe, std::size_t bytes) {
  if (!payload_storage_) {
    auto* fake = reinterpret_cast<std::byte*>(next_fake_);
    next_fake_ += (bytes + gap + alignment - 1) / alignment * alignment;
    return fake;
  }
  locals_.push_back({pe, make(pe, bytes, Bytes::local_space), bytes});
  return locals_.back().data;
}

std::pair<int, std::size_t> Memory::local_place(int pe, std::uintptr_t address) const {
  int nth = 0;
  for (const LocalArray& local : locals_) {
    if (local.pe != pe) continue;
    const auto begin = reinterpret_cast<std::uintptr_t>(local.data);
    if (address >= begin && address - begin < local.bytes) return {nth, address - begin};
    ++nth;
  }
  return {-1, 0};
}

std::string Memory::name(int space) const {
  if (space == Bytes::local_space) return "local memory";
  if (space == Bytes::scratch_space) return "scratch";
  return allocations_[static_cast<std::size_t>(space)].name;
}

}  // namespace sym::fiber
