// Matrix products without a library, for shapes that cuBLASLt has no algorithm for.
#pragma once

#include "backends/cuda/gemm.hpp"

namespace sym::cuda {

// Right for every shape and alignment, and slow: a lane for each element of d.
void enqueue_plain_product(const Product& product, CUstream_st* stream);

// Has CUDA load the kernels, so that none is loaded while another kernel waits.
void load_plain_products();

}  // namespace sym::cuda
