// NCCL's types, operators and calls by our names. For .cpp files that include NCCL.
#pragma once

#include <cstddef>
#include <string>

#include "backends/cuda/cuda_check.hpp"

namespace sym::cuda {

// Throw UsageError for unknown names, naming those that there are.
ncclDataType_t nccl_type(const std::string& name);
std::size_t nccl_type_bytes(const std::string& name);
ncclRedOp_t nccl_op(const std::string& name);
// Whether a collective's size is that of all members' parts together.
bool nccl_call_has_parts(const std::string& name);

struct NcclCall {
  std::string name;
  std::size_t count = 0;  // elements of the smaller side
  ncclDataType_t type{};
  ncclRedOp_t op{};
  int root = 0;
};
void nccl_enqueue(const NcclCall& call, const void* in, void* out, ncclComm_t comm,
                  cudaStream_t stream);

}  // namespace sym::cuda
