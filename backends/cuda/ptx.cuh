// The instructions of the memory model that this backend uses, each with what it is relied on for.
// Nowhere else in the project is there PTX.
//
// Window memory is written by peers while a kernel runs. Loads here are weak loads that stay out of
// the read-only cache (never ld.global.nc); they see a peer's writes because every verb that may
// read them comes after an acquire at system scope, which drops this SM's L1, and a CTA barrier.
#pragma once

#include <cstdint>

namespace sym::cuda::ptx {

struct Words2 {
  std::uint32_t w[2];
};
struct Words4 {
  std::uint32_t w[4];
};

// volatile keeps the loads of a batch before its stores, as written: several are then in flight.
__device__ __forceinline__ Words4 load16(const void* from) {
  Words4 v;
  asm volatile("ld.global.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.w[0]), "=r"(v.w[1]), "=r"(v.w[2]), "=r"(v.w[3])
               : "l"(from));
  return v;
}
__device__ __forceinline__ Words2 load8(const void* from) {
  Words2 v;
  asm volatile("ld.global.L1::no_allocate.v2.u32 {%0, %1}, [%2];"
               : "=r"(v.w[0]), "=r"(v.w[1])
               : "l"(from));
  return v;
}
__device__ __forceinline__ std::uint32_t load4(const void* from) {
  std::uint32_t v;
  asm volatile("ld.global.u32 %0, [%1];" : "=r"(v) : "l"(from));
  return v;
}
__device__ __forceinline__ std::uint32_t load2(const void* from) {
  std::uint16_t v;
  asm volatile("ld.global.u16 %0, [%1];" : "=h"(v) : "l"(from));
  return v;
}
__device__ __forceinline__ std::uint32_t load1(const void* from) {
  std::uint32_t v;
  asm volatile("ld.global.u8 %0, [%1];" : "=r"(v) : "l"(from));
  return v;
}

__device__ __forceinline__ void store16(void* to, Words4 v) {
  asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(v.w[0]), "r"(v.w[1]),
               "r"(v.w[2]), "r"(v.w[3]));
}
__device__ __forceinline__ void store8(void* to, Words2 v) {
  asm volatile("st.global.v2.u32 [%0], {%1, %2};" ::"l"(to), "r"(v.w[0]), "r"(v.w[1]));
}
__device__ __forceinline__ void store4(void* to, std::uint32_t v) {
  asm volatile("st.global.u32 [%0], %1;" ::"l"(to), "r"(v));
}
__device__ __forceinline__ void store2(void* to, std::uint32_t v) {
  asm volatile("st.global.u16 [%0], %1;" ::"l"(to), "h"(static_cast<std::uint16_t>(v)));
}
__device__ __forceinline__ void store1(void* to, std::uint32_t v) {
  asm volatile("st.global.u8 [%0], %1;" ::"l"(to), "r"(v));
}

// Packets: 16 bytes written and read whole, as one access of 128 bits, and never from a cache that
// could be stale. volatile is relaxed at system scope; a load that says relaxed is cut by ptxas to
// the words that are looked at.
__device__ __forceinline__ void store_packet(void* to, Words4 v) {
  const std::uint64_t low = (static_cast<std::uint64_t>(v.w[1]) << 32) | v.w[0];
  const std::uint64_t high = (static_cast<std::uint64_t>(v.w[3]) << 32) | v.w[2];
  asm volatile(
      "{ .reg .b128 packet; mov.b128 packet, {%1, %2};"
      " st.volatile.global.b128 [%0], packet; }" ::"l"(to),
      "l"(low), "l"(high)
      : "memory");
}
__device__ __forceinline__ Words4 load_packet(const void* from) {
  std::uint64_t low, high;
  asm volatile(
      "{ .reg .b128 packet; ld.volatile.global.b128 packet, [%2];"
      " mov.b128 {%0, %1}, packet; }"
      : "=l"(low), "=l"(high)
      : "l"(from)
      : "memory");
  return {{static_cast<std::uint32_t>(low), static_cast<std::uint32_t>(low >> 32),
           static_cast<std::uint32_t>(high), static_cast<std::uint32_t>(high >> 32)}};
}

// Release and acquire of everything before and after it, cumulative, at system scope. It costs
// about 0.56 us on an H200 when followed by a remote store, so a team's signals share one (a warp
// executes it once for all its lanes).
__device__ __forceinline__ void fence_system() { asm volatile("fence.acq_rel.sys;" ::: "memory"); }

__device__ __forceinline__ std::uint64_t load_acquire_system(const std::uint64_t* from) {
  std::uint64_t v;
  asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(v) : "l"(from) : "memory");
  return v;
}
__device__ __forceinline__ void store_relaxed_system(std::uint64_t* to, std::uint64_t v) {
  asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(to), "l"(v) : "memory");
}
__device__ __forceinline__ void add_relaxed_system(std::uint64_t* to, std::uint64_t v) {
  asm volatile("red.relaxed.sys.global.add.u64 [%0], %1;" ::"l"(to), "l"(v) : "memory");
}
__device__ __forceinline__ std::uint64_t exchange_relaxed_gpu(std::uint64_t* at, std::uint64_t v) {
  std::uint64_t before;
  asm volatile("atom.relaxed.gpu.global.exch.b64 %0, [%1], %2;"
               : "=l"(before)
               : "l"(at), "l"(v)
               : "memory");
  return before;
}
__device__ __forceinline__ std::uint64_t exchange_relaxed_system(std::uint64_t* at,
                                                                 std::uint64_t v) {
  std::uint64_t before;
  asm volatile("atom.relaxed.sys.global.exch.b64 %0, [%1], %2;"
               : "=l"(before)
               : "l"(at), "l"(v)
               : "memory");
  return before;
}
__device__ __forceinline__ void store_relaxed_gpu(std::uint64_t* to, std::uint64_t v) {
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(to), "l"(v) : "memory");
}
__device__ __forceinline__ std::uint32_t load_relaxed_gpu(const std::uint32_t* from) {
  std::uint32_t v;
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(from));
  return v;
}

// Of launches that may begin early (programmatic stream serialization, from sm_90 on); else these
// do nothing. After the first all that earlier launches of the stream wrote is there.
__device__ __forceinline__ void await_launches_before() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
__device__ __forceinline__ void let_next_launch_begin() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}

__device__ __forceinline__ std::uint64_t global_timer_ns() {
  std::uint64_t v;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(v));
  return v;
}

// Two f32 to a pair of 16-bit floats, `low` in the low half: round to nearest even, NaN to 0x7fff,
// the same bits as core/types.hpp.
__device__ __forceinline__ std::uint32_t to_bf16_pair(float low, float high) {
  std::uint32_t v;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(v) : "f"(high), "f"(low));
  return v;
}
__device__ __forceinline__ std::uint32_t to_f16_pair(float low, float high) {
  std::uint32_t v;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(v) : "f"(high), "f"(low));
  return v;
}
__device__ __forceinline__ float from_f16(std::uint16_t bits) {
  float v;
  asm("cvt.f32.f16 %0, %1;" : "=f"(v) : "h"(bits));
  return v;
}

}  // namespace sym::cuda::ptx
