// Messages whose flags travel in the data: what the lanes of a block do for put_packets and
// reduce_packets.
//
// A group of 16 payload bytes is two packets of 16 bytes: {data, flag, data, flag}. Each 8-byte
// half is written and read whole (a single-copy atomic access), so a half whose flag is right holds
// its data: nobody fences, nobody signals. A group belongs to the same lane as in every other verb
// (pack.cuh).
//
// The flag is the message's epoch, never 0. In the first group of a message the second packet's
// second flag is mixed with the operation's tag, so that a peer that came for something else is
// named.
#pragma once

#include "backends/cuda/lanes.cuh"
#include "core/signals.hpp"

namespace sym::cuda {

// The flag of an epoch: its low 32 bits, but never 0. What stands for 0 is the flag of an odd
// epoch, and so of the other buffer; within one buffer a flag comes again after 2^32 epochs.
__device__ __forceinline__ std::uint32_t packet_flag(std::uint64_t epoch) {
  const auto low = static_cast<std::uint32_t>(epoch);
  return low != 0 ? low : 0x80000001U;
}
// The last flag of the first group of a message: says the tag as well.
__device__ __forceinline__ std::uint32_t tagged_flag(std::uint32_t flag, std::uint16_t tag) {
  return flag ^ (0x80000000U | (static_cast<std::uint32_t>(tag) << 8));
}

// The payload of one group: up to 16 bytes, zero beyond `elements`.
template <class T>
__device__ __forceinline__ ptx::Words4 load_group(const T* from, int elements, bool wide) {
  if (wide && elements == Shared<T>::elements) return ptx::load16(from);
  ptx::Words4 group{};
#pragma unroll 1
  for (int i = 0; i < elements; ++i) {
    const T value = from[i];
    memcpy(reinterpret_cast<char*>(group.w) + i * sizeof(T), &value, sizeof(T));
  }
  return group;
}

// A group's two packets, as they lie in an inbox.
struct PacketPair {
  ptx::Words4 first, second;

  __device__ __forceinline__ static PacketPair of(const ptx::Words4& data, std::uint32_t flag,
                                                  std::uint32_t last) {
    return {{{data.w[0], flag, data.w[1], flag}}, {{data.w[2], flag, data.w[3], last}}};
  }
  __device__ __forceinline__ void store(char* cell) const {
    ptx::store16_volatile(cell, first);
    ptx::store16_volatile(cell + 16, second);
  }
  __device__ __forceinline__ static PacketPair load(const char* cell) {
    return {ptx::load16_volatile(cell), ptx::load16_volatile(cell + 16)};
  }
  __device__ __forceinline__ bool has_come(std::uint32_t flag, std::uint32_t last) const {
    return first.w[1] == flag && first.w[3] == flag && second.w[1] == flag && second.w[3] == last;
  }
  // All of it but the tag: a message for another operation.
  __device__ __forceinline__ bool is_other(std::uint32_t flag) const {
    return first.w[1] == flag && first.w[3] == flag && second.w[1] == flag && second.w[3] != 0;
  }
  __device__ __forceinline__ ptx::Words4 data() const {
    return {{first.w[0], first.w[2], second.w[0], second.w[2]}};
  }
};

// Calls body(group, elements) for this lane's groups, whole ones and the rest alike.
template <class T, class Body>
__device__ __forceinline__ void each_packet_group(const Shared<T>& shared, Body body) {
  const std::size_t groups = shared.groups + (shared.rest != 0 ? 1 : 0);
#pragma unroll 1
  for (std::size_t g = threadIdx.x; g < groups; g += blockDim.x) {
    body(g, g < shared.groups ? Shared<T>::elements : shared.rest);
  }
}

}  // namespace sym::cuda
