#include "backends/cuda/nccl_call.hpp"

#include <algorithm>
#include <cstring>
#include <exception>

#include "backends/cuda/heap.hpp"
#include "backends/cuda/nccl_names.hpp"

namespace sym::cuda {

struct NcclCalls::Impl {
  ncclComm_t comm = nullptr;
};

NcclCalls::NcclCalls(CudaWorld& world) : world_(world), impl_(std::make_unique<Impl>()) {
  if (world.share().pes > 1 && world.n_pes() > 1) {
    throw Unavailable("NCCL needs a GPU for each PE: it refuses PEs that share one");
  }
  keep_multicast_off();
  ncclUniqueId id{};
  if (world.pe() == 0) SYM_CHECK_NCCL(ncclGetUniqueId(&id));
  const std::string theirs =
      world.bootstrap().all_gather(std::string(id.internal, sizeof(id.internal)))[0];
  std::memcpy(id.internal, theirs.data(), std::min(theirs.size(), sizeof(id.internal)));
  SYM_CHECK_NCCL(ncclCommInitRank(&impl_->comm, world.n_pes(), id, world.pe()));
}

NcclCalls::~NcclCalls() {
  if (impl_->comm == nullptr) return;
  (void)(std::uncaught_exceptions() > 0 ? ncclCommAbort(impl_->comm)
                                        : ncclCommDestroy(impl_->comm));
}

void NcclCalls::enqueue_at(const Call& call, const void* in, void* out) {
  nccl_enqueue({call.name, call.count, nccl_type(call.type), nccl_op(call.op), call.root}, in, out,
               impl_->comm, world_.stream(0));
}

}  // namespace sym::cuda
