// Matrix products without a library, for shapes that cuBLASLt has no algorithm for.
#pragma once

#include "backends/cuda/gemm.hpp"

namespace sym::cuda {

// Right for every shape and alignment, and slow: a lane for each element of d.
void enqueue_plain_product(const Product& product, CUstream_st* stream);

}  // namespace sym::cuda
