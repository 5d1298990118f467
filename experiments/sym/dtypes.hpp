// The element types of the command line, by name.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "core/error.hpp"
#include "core/text.hpp"
#include "core/types.hpp"

namespace sym::command {

using dtype_bf16 = bf16;
using dtype_f16 = f16;
using dtype_f32 = float;
using dtype_f64 = double;
using dtype_i32 = std::int32_t;
using dtype_i64 = std::int64_t;
using dtype_u8 = std::uint8_t;

inline const std::vector<std::string>& dtype_names() {
  static const std::vector<std::string> names{"bf16", "f16", "f32", "f64", "i32", "i64", "u8"};
  return names;
}

template <class T>
constexpr const char* dtype_name() {
  if constexpr (std::is_same_v<T, dtype_bf16>) return "bf16";
  if constexpr (std::is_same_v<T, dtype_f16>) return "f16";
  if constexpr (std::is_same_v<T, dtype_f32>) return "f32";
  if constexpr (std::is_same_v<T, dtype_f64>) return "f64";
  if constexpr (std::is_same_v<T, dtype_i32>) return "i32";
  if constexpr (std::is_same_v<T, dtype_i64>) return "i64";
  if constexpr (std::is_same_v<T, dtype_u8>) return "u8";
}

// Calls f.template operator()<T>() for the type named `name`.
template <class F>
auto with_dtype(const std::string& name, F f) {
  if (name == "bf16") return f.template operator()<dtype_bf16>();
  if (name == "f16") return f.template operator()<dtype_f16>();
  if (name == "f32") return f.template operator()<dtype_f32>();
  if (name == "f64") return f.template operator()<dtype_f64>();
  if (name == "i32") return f.template operator()<dtype_i32>();
  if (name == "i64") return f.template operator()<dtype_i64>();
  if (name == "u8") return f.template operator()<dtype_u8>();
  throw UsageError("unknown dtype '" + name + "'; the nearest is '" +
                   nearest_name(name, dtype_names()) + "'");
}

}  // namespace sym::command
