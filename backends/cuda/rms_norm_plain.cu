// A block a row, its elements in registers between the two passes.
#include "backends/cuda/cuda_check.hpp"
#include "backends/cuda/pack.cuh"
#include "backends/cuda/rms_norm_plain.hpp"

namespace sym::cuda {

namespace {

constexpr int lanes_most = 512;

__device__ float block_sum(float value) {
  __shared__ float parts[lanes_most / 32];
  for (int hop = 16; hop > 0; hop /= 2) value += __shfl_down_sync(~0U, value, hop);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
  __syncthreads();
  float total = threadIdx.x % 32 < blockDim.x / 32 ? parts[threadIdx.x % 32] : 0.0F;
  for (int hop = 16; hop > 0; hop /= 2) total += __shfl_xor_sync(~0U, total, hop);
  return total;
}

// `packs` accesses of 16 bytes a lane at most; `wide`: rows are whole numbers of them.
template <class T, int packs, bool wide>
__global__ void __launch_bounds__(lanes_most) norm_rows(const PlainNorm norm) {
  constexpr int n = wide ? Shared<T>::elements : 1;
  using P = Pack<T, n, wide ? 16 : static_cast<int>(sizeof(T))>;
  const std::size_t row = blockIdx.x * norm.hidden;
  const auto at = [](const void* from) { return static_cast<const T*>(from); };
  P x[packs];
  float squares = 0;
#pragma unroll
  for (int k = 0; k < packs; ++k) {
    const std::size_t i = (threadIdx.x + static_cast<std::size_t>(k) * blockDim.x) * n;
    if (i >= norm.hidden) continue;
    const P in = P::load(at(norm.in) + row + i);
    const P bias = P::load(at(norm.bias) + i);
    const P more = norm.residual != nullptr ? P::load(at(norm.residual) + row + i) : P{};
    float sum[n];
#pragma unroll
    for (int e = 0; e < n; ++e) sum[e] = in.get(e) + more.get(e) + bias.get(e);
    x[k] = P::of(sum);
    if (norm.residual != nullptr) x[k].store(static_cast<T*>(norm.residual) + row + i);
#pragma unroll
    for (int e = 0; e < n; ++e) squares += x[k].get(e) * x[k].get(e);
  }
  const float mean = block_sum(squares) / static_cast<float>(norm.hidden);
  const float scale = rsqrtf(mean + norm.epsilon);
#pragma unroll
  for (int k = 0; k < packs; ++k) {
    const std::size_t i = (threadIdx.x + static_cast<std::size_t>(k) * blockDim.x) * n;
    if (i >= norm.hidden) continue;
    const P weight = P::load(at(norm.weight) + i);
    float out[n];
#pragma unroll
    for (int e = 0; e < n; ++e) out[e] = x[k].get(e) * scale * weight.get(e);
    P::of(out).store(static_cast<T*>(norm.out) + row + i);
  }
}

template <class T>
void launch_rows(const PlainNorm& norm, CUstream_st* stream) {
  constexpr std::size_t n = granule<T>;
  const bool wide = norm.hidden % n == 0;
  const std::size_t groups = wide ? norm.hidden / n : norm.hidden;
  const std::size_t passes = (groups + lanes_most - 1) / lanes_most;
  const auto lanes = static_cast<unsigned>(((groups + passes - 1) / passes + 31) / 32 * 32);
  const auto grid = static_cast<unsigned>(norm.rows);
  if (grid == 0) return;
  if (wide && passes == 1) {
    norm_rows<T, 1, true><<<grid, lanes, 0, stream>>>(norm);
  } else if (wide && passes == 2) {
    norm_rows<T, 2, true><<<grid, lanes, 0, stream>>>(norm);
  } else if (wide) {
    norm_rows<T, 8, true><<<grid, lanes, 0, stream>>>(norm);
  } else {
    norm_rows<T, 32, false><<<grid, lanes, 0, stream>>>(norm);
  }
  SYM_CHECK_CUDA(cudaGetLastError());
}

}  // namespace

void rms_norm_plain(const PlainNorm& norm, const std::string& type, CUstream_st* stream) {
  if (norm.hidden > 16384)
    throw UsageError("rms_norm_plain: rows of " + std::to_string(norm.hidden) +
                     " elements; at most 16384");
  if (type == "bf16") return launch_rows<bf16>(norm, stream);
  if (type == "f16") return launch_rows<f16>(norm, stream);
  if (type == "f32") return launch_rows<float>(norm, stream);
  throw UsageError("rms_norm_plain: no type '" + type + "'; known: bf16, f16, f32");
}

}  // namespace sym::cuda
