// How long a matrix product takes on a machine's GPU.
#pragma once

#include <cstddef>

#include "models/machine.hpp"

namespace sym::models {

// Microseconds of an m x n x k product (2mnk operations) in bf16 or f16, from the start of its work
// to its end: gemm_tflops_bf16 times the efficiency of its waves. A wave is `sms` tiles of
// gemm_tile_m x gemm_tile_n; w = ceil(m / tile_m) ceil(n / tile_n) / sms waves take the time of
// ceil(w). Sizes are at least 1. Right where tiles are full and memory is no limit, so for large
// products only.
double gemm_us(const Machine& machine, std::size_t m, std::size_t n, std::size_t k);

// w / ceil(w), of (0, 1].
double wave_efficiency(const Machine& machine, std::size_t m, std::size_t n);

}  // namespace sym::models
