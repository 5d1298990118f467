// Whether classes of pairs fit a tree of PCIe. Not for other folders.
#pragma once

#include <optional>
#include <string>

#include "models/machine.hpp"

namespace sym::models::detail {

// Two devices of a node (GPUs, then NICs) whose class says that they meet higher up than what the
// other pairs say: in a tree, what two devices both meet at a height meets there itself.
struct Misfit {
  int gpu = 0, other = 0;
  LinkClass stated = LinkClass::self, in_tree = LinkClass::self;

  // "is SYS, but what other cells say joins the two at PIX"
  std::string text() const;
};
inline constexpr const char* fits_a_tree = "; classes that fit one PCIe tree are accepted";

// The first pair that does not fit, among GPUs alone or with the NICs; ways over NVLink say nothing
// of PCIe.
enum class Devices { gpus, all };
std::optional<Misfit> pcie_misfit(const Machine& machine, Devices devices);

}  // namespace sym::models::detail
