#include "backends/cuda/nccl_names.hpp"

#include <utility>
#include <vector>

namespace sym::cuda {

namespace {

template <class V>
V named(const std::string& name, const char* what,
        const std::vector<std::pair<const char*, V>>& table) {
  std::string known;
  for (const auto& [each, value] : table) {
    if (name == each) return value;
    known += (known.empty() ? "" : ", ") + std::string(each);
  }
  throw UsageError("NCCL: no " + std::string(what) + " '" + name + "'; known: " + known);
}

}  // namespace

ncclDataType_t nccl_type(const std::string& name) {
  return named<ncclDataType_t>(name, "type",
                               {{"bf16", ncclBfloat16},
                                {"f16", ncclFloat16},
                                {"f32", ncclFloat32},
                                {"f64", ncclFloat64},
                                {"i32", ncclInt32},
                                {"i64", ncclInt64},
                                {"u8", ncclUint8}});
}
std::size_t nccl_type_bytes(const std::string& name) {
  return named<std::size_t>(
      name, "type",
      {{"bf16", 2}, {"f16", 2}, {"f32", 4}, {"f64", 8}, {"i32", 4}, {"i64", 8}, {"u8", 1}});
}
ncclRedOp_t nccl_op(const std::string& name) {
  return named<ncclRedOp_t>(
      name, "op",
      {{"sum", ncclSum}, {"prod", ncclProd}, {"max", ncclMax}, {"min", ncclMin}, {"avg", ncclAvg}});
}
bool nccl_call_has_parts(const std::string& name) {
  return named<bool>(name, "collective",
                     {{"all_reduce", false},
                      {"all_gather", true},
                      {"reduce_scatter", true},
                      {"all_to_all", true},
                      {"broadcast", false}});
}

void nccl_enqueue(const NcclCall& call, const void* in, void* out, ncclComm_t comm,
                  cudaStream_t stream) {
  if (call.name == "all_reduce") {
    SYM_CHECK_NCCL(ncclAllReduce(in, out, call.count, call.type, call.op, comm, stream));
  } else if (call.name == "all_gather") {
    SYM_CHECK_NCCL(ncclAllGather(in, out, call.count, call.type, comm, stream));
  } else if (call.name == "reduce_scatter") {
    SYM_CHECK_NCCL(ncclReduceScatter(in, out, call.count, call.type, call.op, comm, stream));
  } else if (call.name == "all_to_all") {
    SYM_CHECK_NCCL(ncclAlltoAll(in, out, call.count, call.type, comm, stream));
  } else if (!nccl_call_has_parts(call.name)) {  // unknown names are refused here
    SYM_CHECK_NCCL(ncclBroadcast(in, out, call.count, call.type, call.root, comm, stream));
  }
}

}  // namespace sym::cuda
