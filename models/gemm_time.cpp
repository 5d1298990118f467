#include "models/gemm_time.hpp"

#include <cmath>

namespace sym::models {

// The tile and the number of SMs of H100 and H200: what number_keys() promises.
double wave_efficiency(const Machine& machine, std::size_t m, std::size_t n) {
  const double rows = std::ceil(static_cast<double>(m) / machine.number_or("gemm_tile_m", 128));
  const double columns = std::ceil(static_cast<double>(n) / machine.number_or("gemm_tile_n", 256));
  const double waves = rows * columns / machine.number_or("sms", 132);
  return waves / std::ceil(waves);
}

double gemm_us(const Machine& machine, std::size_t m, std::size_t n, std::size_t k) {
  const double operations =
      2 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  const double rate = machine.number("gemm_tflops_bf16") * wave_efficiency(machine, m, n);
  return operations / (rate * 1e6);
}

}  // namespace sym::models
