#include "experiments/sym/flavour.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "experiments/sym/registry.hpp"
#include "models/nccl.hpp"

namespace sym::command {

namespace {

const std::string prefix = "nccl:";

models::NcclChoice choice_of(const Planning& planning, std::size_t bytes) {
  const std::string& flavour = planning.options.flavour;
  const bool asked = flavour.rfind(prefix, 0) == 0;
  if (!asked && flavour != "nccl") {
    throw UsageError("--flavour '" + flavour +
                     "': nccl, nccl:ALGORITHM and nccl:ALGORITHM/PROTOCOL are accepted");
  }
  if (planning.options.variant != "auto")
    throw UsageError("--variant and --flavour nccl: NCCL chooses; nccl:ring asks for its ring");
  return models::nccl_choice(planning.machine,
                             {planning.algorithm.name, planning.pes, static_cast<double>(bytes)},
                             asked ? flavour.substr(prefix.size()) : "");
}

}  // namespace

std::string flavour_of(const Planning& planning, std::size_t bytes) {
  return planning.options.flavour.empty() ? "" : prefix + choice_of(planning, bytes).name();
}

std::string variant_of_flavour(const Planning& planning, std::size_t bytes) {
  return models::nccl_variant(choice_of(planning, bytes), planning.algorithm.name,
                              (planning.pes - 1) / planning.machine.gpus_per_node + 1);
}

void shape_as_flavoured(const Planning& planning, Point& point) {
  if (point.flavour.empty() || point.variant != "nvls_tree") return;
  constexpr double many = 256, access_bytes = 16;
  const double share = static_cast<double>(point.bytes) / point.per_node;
  if (planning.options.blocks == 0) point.blocks = 2;
  if (planning.options.pieces == 0)
    point.pieces = std::max(1, static_cast<int>(std::min(many, share / (2 * access_bytes))));
}

models::Machine flavoured(const models::Machine& machine, const Point& point) {
  if (point.flavour.empty()) return machine;
  const models::NcclCall call{point.algorithm, point.pes, static_cast<double>(point.bytes)};
  return models::nccl_flavour(
      machine, models::nccl_choice(machine, call, point.flavour.substr(prefix.size())), call);
}

}  // namespace sym::command
