// NVLink multicast: which variants go through it, and which machines have it.
#pragma once

#include <string>

#include "models/machine.hpp"

namespace sym::models {

inline bool has_multicast(const Machine& machine) {
  return machine.numbers.contains("nvls_efficiency");
}

// By name, as NCCL's: nvls inside a node, nvls_tree over several.
inline bool is_multicast(const std::string& variant) {
  return variant == "nvls" || variant == "nvls_tree";
}

}  // namespace sym::models
