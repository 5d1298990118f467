// Heap: this PE's symmetric memory, and how a kernel addresses everyone's.
#pragma once

#include <cstddef>
#include <memory>

#include "core/bootstrap.hpp"

namespace sym::cuda {

// Every PE's heap has the same size. On this device the heap of PE p is at base + p * pitch_bytes,
// this PE's included; kernels use nothing else. Host calls (copies, cuBLAS, NCCL) use `own`, which
// may be another mapping of the same memory: the two meet only across a kernel's beginning or end.
class Heap {
 public:
  Heap() = default;
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;
  virtual ~Heap() = default;
  char* own() const { return own_; }
  char* base() const { return base_; }
  std::size_t pitch_bytes() const { return pitch_bytes_; }
  std::size_t size_bytes() const { return size_bytes_; }

 protected:
  char* own_ = nullptr;
  char* base_ = nullptr;
  std::size_t pitch_bytes_ = 0;
  std::size_t size_bytes_ = 0;
};

// The size each PE should ask for: SYM_HEAP (bytes, or with K, M, G), else the least of 16 GiB and
// half of what this device has free, shared by `pes_on_device`. A multiple of 2 MiB. The current
// device's.
std::size_t wanted_heap_bytes(int pes_on_device);

// One process a GPU, all in one NVLink domain: a window of an NCCL communicator of its own.
// [collective over bootstrap] The current device is the PE's. The least size wanted by any PE is
// taken. Throws Unavailable where NCCL offers no usable symmetric windows.
std::unique_ptr<Heap> make_nccl_heap(Bootstrap& bootstrap, std::size_t wanted_bytes);

// Several PEs in one process on one GPU (tests): an allocation with a part for each PE. The arena
// must outlive the heaps made from it.
class LocalArena {
 public:
  LocalArena(int device, int pes, std::size_t bytes_per_pe);
  ~LocalArena();
  LocalArena(const LocalArena&) = delete;
  LocalArena& operator=(const LocalArena&) = delete;
  std::unique_ptr<Heap> heap(int pe) const;

 private:
  int device_;
  int pes_;
  std::size_t bytes_per_pe_;
  char* memory_ = nullptr;
};

// Sets NCCL_NVLS_ENABLE=0 unless SYM_MULTICAST=1. Called before NCCL's first call.
void keep_multicast_off();

}  // namespace sym::cuda
