// Element types: bf16 and f16 as 16-bit values, and the type in which each is accumulated.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "core/function.hpp"

namespace sym {

// Conversions round to nearest, ties to even; NaN becomes the quiet NaN 0x7fff, as on the GPUs' own
// conversion instructions. Integer arithmetic only, so every backend gives the same bits.
struct bf16 {
  std::uint16_t bits = 0;
};
struct f16 {
  std::uint16_t bits = 0;
};

SYM_HD constexpr float to_float(bf16 value) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16);
}

SYM_HD constexpr bf16 to_bf16(float value) {
  const std::uint32_t word = std::bit_cast<std::uint32_t>(value);
  if ((word & 0x7fffffffU) > 0x7f800000U) return bf16{0x7fff};
  const std::uint32_t rounded = word + 0x7fffU + ((word >> 16) & 1U);
  return bf16{static_cast<std::uint16_t>(rounded >> 16)};
}

SYM_HD constexpr float to_float(f16 value) {
  const std::uint32_t sign = (value.bits & 0x8000U) << 16;
  const std::uint32_t exponent = (value.bits >> 10) & 0x1fU;
  std::uint32_t mantissa = value.bits & 0x3ffU;
  if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000U | (mantissa << 13));
  if (exponent != 0)
    return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
  if (mantissa == 0) return std::bit_cast<float>(sign);
  std::uint32_t shift = 0;  // subnormal: normalise
  while ((mantissa & 0x400U) == 0) {
    mantissa <<= 1;
    ++shift;
  }
  return std::bit_cast<float>(sign | ((113 - shift) << 23) | ((mantissa & 0x3ffU) << 13));
}

SYM_HD constexpr f16 to_f16(float value) {
  const std::uint32_t word = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (word >> 16) & 0x8000U;
  const std::uint32_t magnitude = word & 0x7fffffffU;
  if (magnitude > 0x7f800000U) return f16{0x7fff};
  if (magnitude >= 0x47800000U) return f16{static_cast<std::uint16_t>(sign | 0x7c00U)};  // >= 2^16
  if (magnitude < 0x33000000U) return f16{static_cast<std::uint16_t>(sign)};             // < 2^-25
  const std::uint32_t exponent = magnitude >> 23;
  std::uint32_t kept = 0;
  std::uint32_t dropped = 0;
  std::uint32_t half = 0;
  if (exponent >= 113) {  // normal
    kept = ((exponent - 112) << 10) | ((magnitude >> 13) & 0x3ffU);
    dropped = magnitude & 0x1fffU;
    half = 0x1000U;
  } else {  // subnormal
    const std::uint32_t shift = 126 - exponent;
    const std::uint32_t mantissa = (magnitude & 0x7fffffU) | 0x800000U;
    kept = mantissa >> shift;
    dropped = mantissa & ((1U << shift) - 1);
    half = 1U << (shift - 1);
  }
  if (dropped > half || (dropped == half && (kept & 1U) != 0)) ++kept;
  return f16{static_cast<std::uint16_t>(sign | kept)};
}

// The type in which reductions over T run, and in which element functions get and give T: f32 for
// the narrow floats, T itself otherwise.
template <class T>
using Accumulator = std::conditional_t<std::is_same_v<T, bf16> || std::is_same_v<T, f16>, float, T>;

template <class T>
SYM_HD constexpr Accumulator<T> widen(T value) {
  if constexpr (std::is_same_v<T, bf16> || std::is_same_v<T, f16>) {
    return to_float(value);
  } else {
    return value;
  }
}

template <class T>
SYM_HD constexpr T narrow(Accumulator<T> value) {
  if constexpr (std::is_same_v<T, bf16>) {
    return to_bf16(value);
  } else if constexpr (std::is_same_v<T, f16>) {
    return to_f16(value);
  } else {
    return value;
  }
}

}  // namespace sym
