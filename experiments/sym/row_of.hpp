// From a point and its outcome to a row of the table.
#pragma once

#include "experiments/sym/backends.hpp"
#include "experiments/sym/row.hpp"

namespace sym::command {

// Without the columns that need a machine's numbers.
Row row_of(const Algorithm& algorithm, const Point& point, const Outcome& outcome,
           const RunOptions& options);

// Rates, and what the machine's numbers say the row is bound by. `machine` is null where none was
// named.
void add_rates(Row& row, const Algorithm& algorithm, const Point& point,
               const models::Machine* machine);

}  // namespace sym::command
