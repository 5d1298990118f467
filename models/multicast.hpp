// NVLink multicast: which variants go through it, and which machines have it.
#pragma once

#include <string>

#include "models/machine.hpp"

namespace sym::models {

// Why the machine has none; "": it has.
inline std::string multicast_fault(const Machine& machine) {
  constexpr double first = 90;
  if (!machine.numbers.contains("nvls_efficiency"))
    return "nvls_efficiency is not among its numbers";
  if (machine.number_or("compute_capability", first) < first)
    return "of GPUs with a compute_capability below 90 none has it";
  return "";
}
inline bool has_multicast(const Machine& machine) { return multicast_fault(machine).empty(); }

// By name, as NCCL's: nvls inside a node, nvls_tree over several.
inline bool is_multicast(const std::string& variant) {
  return variant == "nvls" || variant == "nvls_tree";
}

}  // namespace sym::models
