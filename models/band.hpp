// band: how far an answer moves if what was assumed of a machine is wrong.
#pragma once

#include "models/machine.hpp"

namespace sym::models {

// The machine with every number that was assumed, and not measured, better or worse by so many
// percent: rates times (better) or over (worse) 1 + percent/100, times the other way round. Counts
// and ratios stay.
Machine assumed_moved(const Machine& machine, double percent, bool better);

// How many numbers that are.
int assumed_numbers(const Machine& machine);

}  // namespace sym::models
