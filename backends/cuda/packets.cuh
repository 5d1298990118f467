// Messages whose flags travel in the data: how they lie in an inbox, and what one lane does for
// them.
//
// A packet is 16 bytes, 12 of payload and a flag, written and read whole (a single-copy atomic
// access of 128 bits): if the flag is right, its data are there: nobody fences, nobody signals. A
// lane sends the groups of 16 payload bytes that are its own in every other verb (pack.cuh), up to
// three at a time in four packets. So both ends must run equal numbers of lanes.
//
// The flag is the message's epoch, never 0. In the message's first packet it is mixed with the
// operation's tag, so that a peer that came for something else is named.
#pragma once

#include "backends/cuda/lanes.cuh"
#include "core/signals.hpp"

namespace sym::cuda {

// The flag of an epoch: its low 32 bits, but never 0. What stands for 0 is the flag of an odd
// epoch, and so of the other buffer; within one buffer a flag comes again after 2^32 epochs.
__device__ __forceinline__ std::uint32_t packet_flag(std::uint32_t epoch) {
  return epoch != 0 ? epoch : 0x80000001U;
}
// The flag that says the tag as well.
__device__ __forceinline__ std::uint32_t tagged_flag(std::uint32_t flag, std::uint16_t tag) {
  return flag ^ (0x80000000U | (static_cast<std::uint32_t>(tag) << 8));
}

// Whether a word is that flag with a tag, whichever. What lies in a buffer before a message comes
// is a flag of another epoch.
__device__ __forceinline__ bool is_tagged(std::uint32_t word, std::uint32_t flag) {
  constexpr std::uint32_t tag_bits = 0x00ffff00U;
  return ((word ^ flag) & ~tag_bits) == 0x80000000U;
}

inline constexpr int batch_groups = 3;  // that a lane sends or takes at a time
// Packets of so many groups, at most batch_groups.
__device__ __forceinline__ constexpr int packets_of(int groups) {
  return groups == 0 ? 0 : groups + 1;
}

// A message of `groups` groups in batches of three for each lane, and where a lane's packets lie:
// row j of a batch has packet j of each of its lanes, side by side.
class Batch {
 public:
  static constexpr int depth = batch_groups;
  __device__ __forceinline__ explicit Batch(unsigned groups) : all_(groups) { begin(); }
  __device__ __forceinline__ bool any() const { return first_ < all_; }  // uniform over the block
  __device__ __forceinline__ void next() {
    first_ += batch_groups * blockDim.x;
    packet_ += packets_of(batch_groups) * blockDim.x;
    begin();
  }
  // Of this lane, in this batch: 0 to 3.
  __device__ __forceinline__ int groups() const { return mine_; }
  __device__ __forceinline__ unsigned group(int k) const {
    return first_ + static_cast<unsigned>(k) * blockDim.x + threadIdx.x;
  }
  __device__ __forceinline__ bool begins_message() const { return first_ + threadIdx.x == 0; }
  __device__ __forceinline__ unsigned packet(int j) const {
    return packet_ + static_cast<unsigned>(j) * row_ + threadIdx.x;
  }

 private:
  __device__ __forceinline__ void begin() {
    const unsigned left = first_ < all_ ? all_ - first_ : 0;
    row_ = left < blockDim.x ? left : blockDim.x;
    mine_ = (threadIdx.x < left ? 1 : 0) + (threadIdx.x + blockDim.x < left ? 1 : 0) +
            (threadIdx.x + 2 * blockDim.x < left ? 1 : 0);
  }

  unsigned all_, first_ = 0, packet_ = 0, row_ = 0;
  int mine_ = 0;
};

// A message of no more groups than a block has lanes: one for each, in one batch. Lies as Batch
// says.
class SingleBatch {
 public:
  static constexpr int depth = 1;
  __device__ __forceinline__ explicit SingleBatch(unsigned groups) : all_(groups) {}
  __device__ __forceinline__ bool any() const { return !done_; }
  __device__ __forceinline__ void next() { done_ = true; }
  __device__ __forceinline__ int groups() const { return threadIdx.x < all_ ? 1 : 0; }
  __device__ __forceinline__ unsigned group(int) const { return threadIdx.x; }
  __device__ __forceinline__ bool begins_message() const { return threadIdx.x == 0; }
  __device__ __forceinline__ unsigned packet(int j) const {
    return j == 0 ? threadIdx.x : all_ + threadIdx.x;
  }

 private:
  unsigned all_;
  bool done_ = false;
};

// A range as a message: its groups, the last of which may be short. Of no elements it is one group
// without any, because each message is also the proof that those before it have been read.
template <class T>
struct Groups {
  static constexpr unsigned whole = Shared<T>::elements;
  unsigned count, elements;

  __device__ __forceinline__ explicit Groups(std::size_t n)
      : count(static_cast<unsigned>((n + whole - 1) / whole)), elements(static_cast<unsigned>(n)) {
    if (n == 0) count = 1;
  }
  __device__ __forceinline__ bool all_whole() const {
    return assume_wide || elements == count * whole;
  }
  __device__ __forceinline__ unsigned size(unsigned group) const {
    const unsigned left = elements - group * whole;
    return left < whole ? left : whole;
  }
};

// How groups are loaded and stored where all are whole and lie where wide accesses may ...
template <class T>
struct WideGroups {
  __device__ __forceinline__ static ptx::Words4 load(const T* from, const Groups<T>&,
                                                     unsigned group) {
    return ptx::load16(from + std::size_t{group} * Groups<T>::whole);
  }
  __device__ __forceinline__ static void store(T* to, const Groups<T>&, unsigned group,
                                               const ptx::Words4& words) {
    ptx::store16(to + std::size_t{group} * Groups<T>::whole, words);
  }
};

// ... and where they may not: zero beyond the elements of a short one.
template <class T>
struct RaggedGroups {
  static constexpr unsigned size = sizeof(T);

  __device__ __forceinline__ static ptx::Words4 load(const T* from, const Groups<T>& groups,
                                                     unsigned group) {
    const T* const first = from + std::size_t{group} * Groups<T>::whole;
    const unsigned n = groups.size(group);
    ptx::Words4 words{};
#pragma unroll
    for (unsigned i = 0; i < Groups<T>::whole; ++i) {
      if (i >= n) continue;
      const auto one = OnePack<T>::load(first + i);
#pragma unroll
      for (unsigned k = 0; k < (size + 3) / 4; ++k)
        words.w[i * size / 4 + k] |= one.w[k] << (8 * (i * size % 4));
    }
    return words;
  }
  __device__ __forceinline__ static void store(T* to, const Groups<T>& groups, unsigned group,
                                               const ptx::Words4& words) {
    T* const first = to + std::size_t{group} * Groups<T>::whole;
    const unsigned n = groups.size(group);
#pragma unroll
    for (unsigned i = 0; i < Groups<T>::whole; ++i) {
      if (i >= n) continue;
      OnePack<T> one;
#pragma unroll
      for (unsigned k = 0; k < (size + 3) / 4; ++k)
        one.w[k] = words.w[i * size / 4 + k] >> (8 * (i * size % 4));
      one.store(first + i);
    }
  }
};

// What a message is known by: this lane's view of its flags. Only the message's first packet says
// the tag. It lies where every message's does, so that what is there was never another's plain
// flag.
struct Flags {
  std::uint32_t first, flag;  // of the lane's first packet; of the others

  Flags() = default;
  __device__ __forceinline__ Flags(std::uint32_t epoch, std::uint16_t tag, bool begins_message)
      : flag(packet_flag(epoch)) {
    first = begins_message ? tagged_flag(flag, tag) : flag;
  }
  __device__ __forceinline__ std::uint32_t of(int j) const { return j == 0 ? first : flag; }
};

// What became of a lane's wait for a message. `failed`: of this PE, before; it has been reported.
enum class Arrival : std::uint32_t { came, failed, mismatch, expired };

// Why a lane gave a message up, for a report.
struct Lost {
  Arrival how = Arrival::came;
  int peer = -1;
  std::uint32_t expected = 0, seen = 0;
};

// Up to `depth` groups of a lane, as packets: word i of the payload is in packet i / 3.
template <int depth>
struct PacketRun {
  static constexpr int packets = packets_of(depth);
  ptx::Words4 packet[packets] = {};

  __device__ __forceinline__ void set(int k, const ptx::Words4& group) {
#pragma unroll
    for (int i = 0; i < 4; ++i) packet[(4 * k + i) / 3].w[(4 * k + i) % 3] = group.w[i];
  }
  __device__ __forceinline__ ptx::Words4 get(int k) const {
    ptx::Words4 group;
#pragma unroll
    for (int i = 0; i < 4; ++i) group.w[i] = packet[(4 * k + i) / 3].w[(4 * k + i) % 3];
    return group;
  }
  template <class B>
  __device__ __forceinline__ void store(char* message, const B& batch, const Flags& flags) {
#pragma unroll
    for (int j = 0; j < packets; ++j) {
      packet[j].w[3] = flags.of(j);
      if (j < packets_of(batch.groups()))
        ptx::store_packet(message + std::size_t{16} * batch.packet(j), packet[j]);
    }
  }
  template <class B>
  __device__ __forceinline__ void load(const char* message, const B& batch) {
#pragma unroll
    for (int j = 0; j < packets; ++j) {
      if (j < packets_of(batch.groups()))
        packet[j] = ptx::load_packet(message + std::size_t{16} * batch.packet(j));
    }
  }
  template <class B>
  __device__ __forceinline__ bool has_come(const B& batch, const Flags& flags) const {
    bool all = true;
#pragma unroll
    for (int j = 0; j < packets; ++j)
      all = all && (j >= packets_of(batch.groups()) || packet[j].w[3] == flags.of(j));
    return all;
  }
};

}  // namespace sym::cuda
