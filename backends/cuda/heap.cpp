#include "backends/cuda/heap.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>

#include "backends/cuda/cuda_check.hpp"

namespace sym::cuda {

namespace {

constexpr std::size_t page_bytes = std::size_t{2} << 20;

std::size_t parse_bytes(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  std::string unit(end);
  double scale = 1;
  if (unit == "K" || unit == "k") scale = 1024.0;
  if (unit == "M" || unit == "m") scale = 1024.0 * 1024;
  if (unit == "G" || unit == "g") scale = 1024.0 * 1024 * 1024;
  const bool known = unit.empty() || scale > 1;
  if (text.empty() || end == text.c_str() || !known || value <= 0 || value * scale > 1e18) {
    throw UsageError("SYM_HEAP='" + text + "' is no size: give bytes, or a number with K, M or G");
  }
  return static_cast<std::size_t>(value * scale);
}

class LocalHeap : public Heap {
 public:
  LocalHeap(char* base, std::size_t bytes, int pe) {
    own_ = base + static_cast<std::size_t>(pe) * bytes;
    base_ = base;
    pitch_bytes_ = bytes;
    size_bytes_ = bytes;
  }
};

}  // namespace

std::size_t wanted_heap_bytes(int pes_on_device) {
  if (const char* text = std::getenv("SYM_HEAP")) {
    return (parse_bytes(text) + page_bytes - 1) / page_bytes * page_bytes;
  }
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  SYM_CHECK_CUDA(cudaMemGetInfo(&free_bytes, &total_bytes));
  const std::size_t share = free_bytes / 2 / static_cast<std::size_t>(pes_on_device);
  const std::size_t most = std::size_t{16} << 30;
  return std::max(page_bytes, std::min(most, share) / page_bytes * page_bytes);
}

LocalArena::LocalArena(int device, int pes, std::size_t bytes_per_pe)
    : device_(device), pes_(pes), bytes_per_pe_(bytes_per_pe) {
  SYM_CHECK_CUDA(cudaSetDevice(device_));
  void* memory = nullptr;
  SYM_CHECK_CUDA(cudaMalloc(&memory, bytes_per_pe_ * static_cast<std::size_t>(pes_)));
  memory_ = static_cast<char*>(memory);
}

LocalArena::~LocalArena() {
  (void)cudaSetDevice(device_);
  (void)cudaFree(memory_);
}

std::unique_ptr<Heap> LocalArena::heap(int pe) const {
  return std::make_unique<LocalHeap>(memory_, bytes_per_pe_, pe);
}

void keep_multicast_off() {
  const char* wanted = std::getenv("SYM_MULTICAST");
  if (wanted != nullptr && std::string(wanted) == "1") return;
  setenv("NCCL_NVLS_ENABLE", "0", 1);
}

}  // namespace sym::cuda
