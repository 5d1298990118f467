// Where each option of `sym run` has an effect. One that would have none is refused, so that nobody
// takes a run for what it is not.
#pragma once

#include <string>
#include <vector>

#include "experiments/sym/options.hpp"
#include "experiments/sym/registry.hpp"

namespace sym::command {

// Throws UsageError for an option of `given` that the backend makes no use of.
void require_uses_of_backend(const RunOptions& options);
// ... that no point of the run makes use of.
void require_uses_of_points(const RunOptions& options, const Algorithm& algorithm,
                            const std::vector<Point>& points);

// Whether a point of a collective makes use of --root, --per-node, --pieces or --head.
bool is_used(const std::string& option, const Point& point);

}  // namespace sym::command
