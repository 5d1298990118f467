// --flavour nccl: points that NCCL would choose, simulated with NCCL's constants.
#pragma once

#include <string>

#include "experiments/sym/families.hpp"

namespace sym::command {

// "nccl:ring/LL128", what NCCL takes for this size; empty without --flavour. Throws UsageError.
std::string flavour_of(const Planning& planning, std::size_t bytes);

// Our variant of that form.
std::string variant_of_flavour(const Planning& planning, std::size_t bytes);

// Two trees on rails take a block each, and as many pieces as lose nothing: what NCCL's pipelines
// lose is in its constants (NcclChoice::fill_us). Does nothing to other points, nor to what was
// asked for.
void shape_as_flavoured(const Planning& planning, Point& point);

// The machine that a point is simulated on: `machine`, with NCCL's constants if the point says so.
models::Machine flavoured(const models::Machine& machine, const Point& point);

}  // namespace sym::command
