// --concurrent: another collective that runs on the same PEs at the same time.
#pragma once

#include <optional>

#include "experiments/sym/options.hpp"
#include "experiments/sym/registry.hpp"
#include "models/machine.hpp"

namespace sym::command {

struct Companion {
  const Algorithm* algorithm = nullptr;
  Point point;
};

// What options.sim.concurrent says, "ALGORITHM[:VARIANT[:BYTES]]", beside `point`: without a size
// as many bytes. None if it says nothing. Throws UsageError for what cannot be at the same time.
std::optional<Companion> companion_of(const Registry& registry, const RunOptions& options,
                                      const models::Machine& machine, const Point& point);

}  // namespace sym::command
