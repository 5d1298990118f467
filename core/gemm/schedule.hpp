// Schedule: which tile of the iteration space each rank works on at each step. With a partition of
// the operands it determines a distributed GEMM whole: plan.hpp derives from the two what is
// fetched from whom, kept, accumulated and handed on, and verify.hpp proves that it is right.
//
// A new schedule is one value of this type: a name, the parts of each axis, the number of steps,
// and one function.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/gemm/tiling.hpp"

namespace sym::gemm {

// Elements that one rank receives from others: tiles of A, of B, and partial sums of C.
struct Volume {
  std::size_t a = 0, b = 0, c = 0;
  std::size_t all() const { return a + b + c; }
  friend bool operator==(const Volume&, const Volume&) = default;
};

struct Schedule {
  std::string name;
  int pes = 1;
  std::string grid;  // of ranks, for people: "1x8x1"
  Parts parts;
  int steps = 1;
  // The tile that `rank` works on at `step`, or none. Pure. Each tile is named exactly once, and at
  // one step no two ranks name tiles of the same (m, n).
  std::function<std::optional<Tile>(int rank, int step)> tile;

  // What may be left empty.
  //
  // The one rank that holds tile (m, k) of A, (n, k) of B at entry; by default the rank that uses
  // it first (of several at one step, the lowest). And the rank that holds tile (m, n) of C at
  // entry and of D at exit; by default the one that works on it last. The tiles of a rank must be
  // all pairs of some rows and some columns.
  std::function<int(int row, int col)> owner_a, owner_b, owner_c;
  // What a rank receives, in closed form: verify compares it with what was derived.
  std::function<Volume(const Tiling& tiling, int rank)> received;
};

// A family of schedules, by the number of ranks. `rows` and `cols` of the grid of ranks are 0 for
// the maker's choice; a maker that has no grid refuses others (UsageError), and so does one whose
// grid does not multiply to `pes`.
struct Grid {
  int rows = 0, cols = 0;
  bool given() const { return rows != 0 || cols != 0; }
};
struct ScheduleMaker {
  std::string name;
  std::string summary;  // one line
  std::function<Schedule(int pes, const Grid& grid)> make;
};

// What is wrong with the schedule by itself, whatever the sizes: a sentence for each fault, nothing
// if it is right. Tiles are in range, each is named once, no two ranks work on one (m, n) at one
// step, owners exist, and each rank's tiles of an operand are all pairs of some rows and columns.
std::vector<std::string> check_schedule(const Schedule& schedule);

}  // namespace sym::gemm
