// Plan: all that a schedule and a partition imply. What each rank fetches from whom and into which
// buffer, where it accumulates, what it hands on, which flags it sets and takes, and how many bytes
// move. Derived, never written by hand; walk.hpp says in which order a rank does it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/gemm/partition.hpp"
#include "core/gemm/schedule.hpp"

namespace sym::gemm {

struct PlanOptions {
  // Whether beta * C is to be added: C's tiles are then read, wherever they lie.
  bool with_c = false;
  // Buffers for foreign tiles, of A and of B each; 0: as many as there are, so that every copy may
  // run ahead. With fewer, a copy waits for the product that used the buffer last. At least 2.
  int max_buffers = 0;
};

// One flag of Posts: what is set at, or taken from, `pe`.
struct Flag {
  std::size_t slot = 0;
  int pe = 0;
};

// A foreign tile of A or B, copied from its owner into a buffer of this rank.
struct Pull {
  Which which = Which::a;
  int row = 0, col = 0;  // of the tile
  int owner = 0;
  int buffer = 0;
  int after = -1;                  // the stage that uses the buffer's last content, or -1
  std::vector<Flag> takes, posts;  // before and after the copy
};

// Where a stage finds what it adds to.
enum class Addend {
  user,  // the tile of the user's C, at `peer`; nothing if the plan is without C
  own,   // where the stage writes: this rank worked on the tile last
  peer   // partial sum `partial` of `peer`, which worked on the tile last
};

// One local product: d = A tile * transpose(B tile) + addend.
struct Stage {
  int step = 0;
  Tile tile;
  std::vector<Pull> pulls;           // that must have ended before it
  int buffer_a = -1, buffer_b = -1;  // where the tiles are; -1: in this rank's own matrix
  Addend addend = Addend::user;
  int peer = 0;      // of the addend
  int partial = -1;  // the addend's, at `peer`
  int to = -1;       // the partial sum of this rank that it writes; -1: the tile of the user's D
  bool complete = false;           // the tile's last product: the bias is added here
  bool credit = false;             // a later pull waits for this stage
  std::vector<Flag> takes, posts;  // before and after the product
};

// A complete tile that another rank computed than the one that must hold it.
struct Delivery {
  int m = 0, n = 0;
  int from = 0;
  int partial = 0;  // of `from`
  std::vector<Flag> takes, posts;
};

// The ends of a call: what is set when it begins, since this rank's memory may be read, and taken
// before it ends, since nobody reads it any more.
struct Ends {
  std::vector<Flag> ready, finished;
};

// What one rank does.
struct RankPlan {
  std::vector<Stage> stages;
  std::vector<Delivery> deliveries;
  Ends tiles;                   // of A and B: `operands_ready`, `pulled`
  Ends addends;                 // of C and partial sums: `addends_ready`, `added`
  std::vector<Place> partials;  // of partial sum i: row is its first element, cols the columns
  int buffers_a = 0, buffers_b = 0;
  // Whether the rank needs its line of copies: it fetches tiles, or others fetch its own.
  bool copies() const { return buffers_a + buffers_b != 0 || !tiles.ready.empty(); }
};

enum class Traffic { a, b, partial, user_c };
// Elements that `to` reads from `from`.
struct Transfer {
  int step = 0;
  int from = 0, to = 0;
  Traffic what = Traffic::a;
  std::size_t elements = 0;
};

// The slots of Posts that have a fixed meaning; those from `first_handover` on each belong to one
// hand-over between two ranks.
//
// Every flag is set once and taken once a call, and a call can follow another at once:
//  - A rank's call ends when it has taken `pulled` and `added` of every rank that reads its memory.
//    Each of those has set them after it took what this rank sets (operands, addends, hand-overs),
//    so the next call's sets find those flags taken.
//  - A reader sets `pulled` or `added` of its next call after it has taken a flag that this rank
//    set in its own next call: after this rank took the last call's.
// For the same reason a rank may overwrite its operands as soon as its own call has ended.
// verify.hpp proves both for each plan.
inline constexpr std::size_t operands_ready = 0;  // owner to those who pull A or B
inline constexpr std::size_t addends_ready = 1;   // owner to those who add its C
inline constexpr std::size_t pulled = 2;          // reader to owner: no more copies
inline constexpr std::size_t added = 3;           // reader to owner: no more addends or deliveries
inline constexpr std::size_t first_handover = 4;

struct Plan {
  Schedule schedule;
  Tiling tiling;
  PlanOptions options;
  int pes = 1;
  Partition a, b, c;  // D lies as C does
  std::vector<RankPlan> ranks;
  std::vector<Transfer> transfers;
  std::size_t slots = first_handover;  // of Posts
  // Symmetric memory that the plan needs beside the operands, in elements: the most of any rank.
  std::size_t buffer_a = 0, buffer_b = 0;  // of one buffer
  int buffers_a = 0, buffers_b = 0;        // how many
  std::size_t partials = 0;                // of all partial sums of a rank

  const Partition& of(Which which) const {
    return which == Which::a ? a : which == Which::b ? b : c;
  }
  std::size_t workspace() const {
    return buffer_a * to_index(buffers_a) + buffer_b * to_index(buffers_b) + partials;
  }
};

// Throws UsageError for sizes or options that no plan can have, and Failure with check_schedule's
// first sentence for a schedule that is wrong by itself.
Plan derive(const Schedule& schedule, const Tiling& tiling, const PlanOptions& options = {});

// What `rank` receives (user's C left out), as the schedule's closed form counts it.
Volume received(const Plan& plan, int rank);
// Elements that each rank (column) reads from each (row), all traffic; of one step, or of all (-1).
Table<std::size_t> transfer_matrix(const Plan& plan, int step = -1);

// Properties of a plan that are good to have, and no errors.
struct Properties {
  // No rank's first product needs a foreign tile of A or B, nor a peer's partial sum.
  bool local_start = true;
  // At each step, each rank's memory is read by at most one other rank for each operand.
  bool one_reader = true;
};
Properties properties(const Plan& plan);

}  // namespace sym::gemm
