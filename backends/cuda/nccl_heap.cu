// The heap of a PE that is a process of its own: NCCL maps everyone's memory, we only learn where.
#include <nccl.h>
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"  // NCCL 2.28's gin__funcs.h
#include <nccl_device.h>
#pragma GCC diagnostic pop

#include <algorithm>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include "backends/cuda/cuda_check.hpp"
#include "backends/cuda/heap.hpp"

namespace sym::cuda {

namespace {

__global__ void read_peer_addresses(ncclWindow_t window, int peers, unsigned long long* addresses) {
  for (int peer = static_cast<int>(threadIdx.x); peer < peers;
       peer += static_cast<int>(blockDim.x)) {
    addresses[peer] = reinterpret_cast<unsigned long long>(ncclGetLsaPointer(window, 0, peer));
  }
}

// All of a PE's heap addresses, as its device sees them.
std::vector<unsigned long long> peer_addresses(ncclWindow_t window, int peers) {
  unsigned long long* device = nullptr;
  const std::size_t bytes = static_cast<std::size_t>(peers) * sizeof(*device);
  SYM_CHECK_CUDA(cudaMalloc(&device, bytes));
  read_peer_addresses<<<1, 32>>>(window, peers, device);
  SYM_CHECK_CUDA(cudaGetLastError());
  std::vector<unsigned long long> addresses(static_cast<std::size_t>(peers));
  SYM_CHECK_CUDA(cudaMemcpy(addresses.data(), device, bytes, cudaMemcpyDeviceToHost));
  SYM_CHECK_CUDA(cudaFree(device));
  return addresses;
}

class NcclHeap : public Heap {
 public:
  NcclHeap(Bootstrap& bootstrap, std::size_t wanted_bytes) {
    try {
      connect(bootstrap);
      require_windows(bootstrap);
      map(bootstrap, wanted_bytes);
    } catch (...) {
      release(true);
      throw;
    }
  }
  ~NcclHeap() override { release(std::uncaught_exceptions() > 0); }

 private:
  void connect(Bootstrap& bootstrap) {
    keep_multicast_off();
    ncclUniqueId id{};
    if (bootstrap.pe() == 0) SYM_CHECK_NCCL(ncclGetUniqueId(&id));
    const std::vector<std::string> ids =
        bootstrap.all_gather(std::string(id.internal, sizeof(id.internal)));
    if (ids[0].size() != sizeof(id.internal)) throw Error("PE 0 sent a malformed NCCL id");
    std::memcpy(id.internal, ids[0].data(), sizeof(id.internal));
    SYM_CHECK_NCCL(ncclCommInitRank(&comm_, bootstrap.n_pes(), id, bootstrap.pe()));
  }

  // NCCL 2.28 registers windows with success even where they cannot be used, and has no query: only
  // a device communicator is refused honestly.
  void require_windows(Bootstrap& bootstrap) {
    ncclDevCommRequirements requirements{};
    requirements.lsaMultimem = false;
    ncclDevComm trial{};
    const ncclResult_t status = ncclDevCommCreate(comm_, &requirements, &trial);
    std::string problem;
    if (status != ncclSuccess) {
      problem = std::string("NCCL has no symmetric windows here (") + ncclGetErrorString(status) +
                ": " + ncclGetLastError(nullptr) +
                "); they need peer access between all GPUs and cuMem";
    } else {
      if (trial.lsaSize != bootstrap.n_pes()) {
        problem = "only " + std::to_string(trial.lsaSize) + " of " +
                  std::to_string(bootstrap.n_pes()) +
                  " PEs are in one NVLink domain; use --backend ibgda across domains";
      }
      SYM_CHECK_NCCL(ncclDevCommDestroy(comm_, &trial));
    }
    for (const std::string& theirs : bootstrap.all_gather(problem)) {
      if (!theirs.empty()) throw Unavailable(theirs);
    }
  }

  void map(Bootstrap& bootstrap, std::size_t wanted_bytes) {
    size_bytes_ = wanted_bytes;
    for (const std::string& theirs : bootstrap.all_gather(std::to_string(wanted_bytes))) {
      size_bytes_ = std::min<std::size_t>(size_bytes_, std::stoull(theirs));
    }
    void* memory = nullptr;
    SYM_CHECK_NCCL(ncclMemAlloc(&memory, size_bytes_));
    own_ = static_cast<char*>(memory);
    SYM_CHECK_NCCL(
        ncclCommWindowRegister(comm_, own_, size_bytes_, &window_, NCCL_WIN_COLL_SYMMETRIC));
    if (window_ == nullptr) throw Unavailable("NCCL registered the heap without a usable window");
    const int peers = bootstrap.n_pes();
    const std::vector<unsigned long long> addresses = peer_addresses(window_, peers);
    base_ = reinterpret_cast<char*>(addresses[0]);
    pitch_bytes_ = peers > 1 ? static_cast<std::size_t>(addresses[1] - addresses[0]) : size_bytes_;
    for (int peer = 0; peer < peers; ++peer) {
      const unsigned long long expected =
          addresses[0] + static_cast<unsigned long long>(peer) * pitch_bytes_;
      if (addresses[static_cast<std::size_t>(peer)] == expected && expected % 16 == 0) continue;
      throw Unavailable("NCCL maps the PEs' memory at uneven distances (PE " +
                        std::to_string(peer) + ")");
    }
  }

  // After an error other PEs may be gone: then nothing may wait for them.
  void release(bool abandoned) noexcept {
    if (comm_ == nullptr) return;
    if (window_ != nullptr && !abandoned) (void)ncclCommWindowDeregister(comm_, window_);
    if (abandoned) (void)ncclCommAbort(comm_);
    if (own_ != nullptr && !abandoned) (void)ncclMemFree(own_);
    if (!abandoned) (void)ncclCommDestroy(comm_);
    comm_ = nullptr;
  }

  ncclComm_t comm_ = nullptr;
  ncclWindow_t window_ = nullptr;
};

}  // namespace

std::unique_ptr<Heap> make_nccl_heap(Bootstrap& bootstrap, std::size_t wanted_bytes) {
  return std::make_unique<NcclHeap>(bootstrap, wanted_bytes);
}

}  // namespace sym::cuda
