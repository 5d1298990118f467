#include "experiments/sym/concurrent.hpp"

#include <sstream>

#include "core/error.hpp"

namespace sym::command {

namespace {

std::vector<std::string> parts_of(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, ':');) parts.push_back(part);
  if (parts.empty() || parts.size() > 3) {
    throw UsageError("--concurrent '" + text +
                     "': ALGORITHM, ALGORITHM:VARIANT and ALGORITHM:VARIANT:BYTES are accepted");
  }
  return parts;
}

}  // namespace

std::optional<Companion> companion_of(const Registry& registry, const RunOptions& options,
                                      const models::Machine& machine, const Point& point) {
  const std::string& text = options.sim.concurrent;
  if (text.empty()) return std::nullopt;
  const std::vector<std::string> parts = parts_of(text);
  const Algorithm& algorithm = registry.find(parts[0]);
  RunOptions own = options;
  own.algorithm = parts[0];
  own.variant = parts.size() > 1 ? parts[1] : "auto";
  own.sizes = {parts.size() > 2 ? parse_size(parts[2]) : point.bytes};
  own.flavour.clear();
  own.sim.explain = false;
  require_variant(algorithm, own.variant);
  require_dtype(algorithm, own.variant, own.dtype);
  Companion companion{&algorithm,
                      algorithm.family.points(Planning{algorithm, own, machine, point.pes}).at(0)};
  const std::string& variant = companion.point.variant;
  if (!algorithm.has_bound || variant == "copy_engine" || variant == "staged") {
    throw UsageError("--concurrent '" + text +
                     "': a collective of kernels can run beside another, " + algorithm.name + " " +
                     variant + " cannot");
  }
  companion.point.stream = 1;
  return companion;
}

}  // namespace sym::command
