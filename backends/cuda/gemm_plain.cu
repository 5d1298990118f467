#include <cuda_runtime.h>

#include <algorithm>

#include "backends/cuda/cuda_check.hpp"
#include "backends/cuda/gemm_plain.hpp"
#include "core/types.hpp"

namespace sym::cuda {

namespace {

template <class T>
__device__ const T* at(const Place& place, std::size_t row) {
  return reinterpret_cast<const T*>(place.data) + row * place.ld;
}

// c may be d: an element is read by the lane that writes it.
template <class T>
__global__ void plain_product(const __grid_constant__ Product p) {
  using A = Accumulator<T>;
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
       i < p.m * p.n; i += step) {
    const std::size_t row = i / p.n;
    const std::size_t col = i % p.n;
    const T* a = at<T>(p.a, row);
    const T* b = at<T>(p.b, col);
    A total = 0;
    for (std::size_t k = 0; k < p.k; ++k) total += widen(a[k]) * widen(b[k]);
    if (p.beta != 0) total += static_cast<A>(p.beta) * widen(at<T>(p.c, row)[col]);
    if (p.bias != nullptr) total += widen(reinterpret_cast<const T*>(p.bias)[col]);
    const_cast<T*>(at<T>(p.d, row))[col] = narrow<T>(total);
  }
}

template <class T>
void enqueue(const Product& product, cudaStream_t stream) {
  constexpr unsigned lanes = 256;
  const std::size_t wanted = (product.m * product.n + lanes - 1) / lanes;
  const unsigned blocks = static_cast<unsigned>(std::min<std::size_t>(wanted, 4096));
  plain_product<T><<<blocks, lanes, 0, stream>>>(product);
  SYM_CHECK_CUDA(cudaGetLastError());
}

template <class T>
void load() {
  cudaFuncAttributes attributes{};  // asking for them loads the kernel
  SYM_CHECK_CUDA(cudaFuncGetAttributes(&attributes, plain_product<T>));
}

}  // namespace

void load_plain_products() {
  load<bf16>();
  load<f16>();
  load<float>();
  load<double>();
}

void enqueue_plain_product(const Product& product, CUstream_st* stream) {
  switch (product.type) {
    case NumberType::bf16:
      return enqueue<bf16>(product, stream);
    case NumberType::f16:
      return enqueue<f16>(product, stream);
    case NumberType::f32:
      return enqueue<float>(product, stream);
    case NumberType::f64:
      return enqueue<double>(product, stream);
  }
}

}  // namespace sym::cuda
