// How the kernel of a collective's point is launched.
#pragma once

#include <algorithm>

#include "core/collective/share.hpp"
#include "core/launch.hpp"
#include "experiments/sym/point.hpp"

namespace sym::command {

// The point must outlive it.
inline LaunchConfig launch_config(const Point& point) {
  LaunchConfig config;
  config.name = point.algorithm.c_str();
  config.blocks = point.blocks;
  config.threads = point.threads;
  config.symmetric = !point.variant.ends_with("tree");  // whose blocks take turns at two trees
  const bool puts = point.algorithm == "all_gather" || point.algorithm == "all_to_all" ||
                    point.algorithm == "broadcast";
  if (puts && (point.variant == "direct" || point.variant == "two_shot"))
    config.kinds = detail::hop_kinds;
  if (point.variant == "push") config.kinds = detail::hop_kinds;
  return config;
}

// Fibres that the simulator runs for the blocks of such a launch.
inline int fibres_of(const Point& point, bool exact) {
  const LaunchConfig config = launch_config(point);
  return exact || !config.symmetric ? config.blocks : std::min(config.kinds, config.blocks);
}

}  // namespace sym::command
