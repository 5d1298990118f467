// The matrix product of the host backends, by Eigen.
#pragma once

#include <cstddef>

#include "core/types.hpp"

namespace sym::host {

// One operand where it lies: row-major, `ld` elements from row to row.
template <class T>
struct Block2d {
  T* data = nullptr;
  std::size_t ld = 0;
};

// d = a * transpose(b) + beta * c + bias (queue.hpp, Gemm). c is null if beta is 0; bias is null if
// there is none. d may be c.
template <class T>
struct Product {
  std::size_t m = 0, n = 0, k = 0;
  Block2d<const T> a, b, c;
  Block2d<T> d;
  double beta = 0;
  const T* bias = nullptr;
};

// T is bf16, f16, float or double. Throws Unavailable where this build has no Eigen.
template <class T>
void multiply(const Product<T>& product);
// Throws Unavailable unless this build has Eigen: for those who want to know beforehand.
void require_gemm();

extern template void multiply(const Product<bf16>&);
extern template void multiply(const Product<f16>&);
extern template void multiply(const Product<float>&);
extern template void multiply(const Product<double>&);

}  // namespace sym::host
