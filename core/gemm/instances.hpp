// The schedules that come with the library.
//
//   ag_a    all-gather, A rotates:   rank d, step t -> (d + t, d, 0)        A by m, B and D by n
//   ag_b    all-gather, B rotates:   rank d, step t -> (d, d + t, 0)        A and D by m, B by n
//   rs_a    reduce-scatter over m:   rank d, step t -> (d - 1 - t, 0, d)    A and B by k, D by m
//   rs_b    reduce-scatter over n:   rank d, step t -> (0, d - 1 - t, d)    A and B by k, D by n
//   cannon  on a grid of ranks (i, j), step t -> (i, j, i + j + t): A moves along rows of the grid,
//           B along columns, C stays
//
// all modulo the number of parts. Any number of ranks works for each.
//
// Partial sums are rounded to the element type where they are handed on (rs_a, rs_b: pes - 1 times)
// and at each step but the last (cannon, in place); ag_a and ag_b round once.
#pragma once

#include <string>
#include <vector>

#include "core/gemm/schedule.hpp"

namespace sym::gemm {

Schedule ag_a(int pes);
Schedule ag_b(int pes);
Schedule rs_a(int pes);
Schedule rs_b(int pes);
// On rows x cols ranks. k is cut to l parts, l the least common multiple of rows and cols, and
// there are l steps. Tile (i, k) of A lies in row i of the grid at column (k - i mod l) mod cols,
// tile (j, k) of B in column j at row (k - j mod l) mod rows. At step t rank (i, j) so reads A from
// column j + t of its row and B from row i + t of its column: at step 0 its own, and at each step
// every rank is read by exactly one rank of its row and one of its column, since j -> j + t (mod
// cols, which divides l) and i -> i + t permute. A number of ranks that is prime gives a grid of
// one row.
Schedule cannon(int rows, int cols);
// Two factors of pes, as near to each other as there are; rows <= cols.
Grid squarest(int pes);

const std::vector<ScheduleMaker>& schedules();
// Throws UsageError with the nearest name.
const ScheduleMaker& find_schedule(const std::string& name);

}  // namespace sym::gemm
