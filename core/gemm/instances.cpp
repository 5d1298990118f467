#include "core/gemm/instances.hpp"

#include <numeric>

#include "core/error.hpp"
#include "core/text.hpp"

namespace sym::gemm {

namespace {

void require_pes(int pes) {
  if (pes < 1) throw UsageError("gemm: a schedule is for at least 1 rank");
}

// What a rank of rs_a or rs_b receives of C, `mine` its own part of the axis that is scattered and
// `rest` the whole of the other. The sum of part p begins at rank p + 1 and is handed on until it
// is at rank p. Ranks whose part of k is empty add nothing and are passed over, but get their own
// part delivered.
std::size_t scattered(const Cuts& mine, const Cuts& k, std::size_t rest, int rank) {
  const int pes = mine.parts();
  if (k.empty(rank)) return mine.size(rank) * rest;
  std::size_t begun = 0;  // by this rank: no rank before it has added
  for (int before = 1; before <= pes; ++before) {
    const int other = wrapped(rank - before, pes);
    begun += mine.size(other);
    if (!k.empty(other)) break;
  }
  return (mine.extent() - begun) * rest;
}

ScheduleMaker line(const char* name, const char* summary, Schedule (*make)(int)) {
  return {name, summary, [name, make](int pes, const Grid& grid) {
            if (grid.given()) {
              throw UsageError(std::string("gemm: schedule ") + name +
                               " runs on a line of ranks and takes no grid; cannon does");
            }
            return make(pes);
          }};
}

Schedule cannon_of(int pes, const Grid& grid) {
  require_pes(pes);
  const Grid g = grid.given() ? grid : squarest(pes);
  if (g.rows < 1 || g.cols < 1 || g.rows > pes || pes % g.rows != 0 || pes / g.rows != g.cols) {
    throw UsageError("gemm: a grid of " + std::to_string(g.rows) + "x" + std::to_string(g.cols) +
                     " is not one of " + std::to_string(pes) +
                     " ranks; rows times columns must be " + std::to_string(pes));
  }
  return cannon(g.rows, g.cols);
}

std::string grid_text(int m, int n, int k) {
  return std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k);
}

}  // namespace

Schedule ag_a(int pes) {
  require_pes(pes);
  Schedule s{"ag_a", pes, grid_text(1, pes, 1), {pes, pes, 1}, pes, {}, {}, {}, {}, {}};
  s.tile = [pes](int d, int t) { return Tile{(d + t) % pes, d, 0}; };
  s.received = [](const Tiling& t, int d) {
    return t.n.empty(d) ? Volume{} : Volume{(t.m.extent() - t.m.size(d)) * t.k.extent(), 0, 0};
  };
  return s;
}

Schedule ag_b(int pes) {
  require_pes(pes);
  Schedule s{"ag_b", pes, grid_text(pes, 1, 1), {pes, pes, 1}, pes, {}, {}, {}, {}, {}};
  s.tile = [pes](int d, int t) { return Tile{d, (d + t) % pes, 0}; };
  s.received = [](const Tiling& t, int d) {
    return t.m.empty(d) ? Volume{} : Volume{0, (t.n.extent() - t.n.size(d)) * t.k.extent(), 0};
  };
  return s;
}

Schedule rs_a(int pes) {
  require_pes(pes);
  Schedule s{"rs_a", pes, grid_text(1, 1, pes), {pes, 1, pes}, pes, {}, {}, {}, {}, {}};
  s.tile = [pes](int d, int t) { return Tile{wrapped(d - 1 - t, pes), 0, d}; };
  s.received = [](const Tiling& t, int d) {
    return Volume{0, 0, scattered(t.m, t.k, t.n.extent(), d)};
  };
  return s;
}

Schedule rs_b(int pes) {
  require_pes(pes);
  Schedule s{"rs_b", pes, grid_text(1, 1, pes), {1, pes, pes}, pes, {}, {}, {}, {}, {}};
  s.tile = [pes](int d, int t) { return Tile{0, wrapped(d - 1 - t, pes), d}; };
  s.received = [](const Tiling& t, int d) {
    return Volume{0, 0, scattered(t.n, t.k, t.m.extent(), d)};
  };
  return s;
}

Schedule cannon(int rows, int cols) {
  if (rows < 1 || cols < 1) throw UsageError("gemm: a grid has at least 1 row and 1 column");
  const int l = std::lcm(rows, cols);
  Schedule s{"cannon", rows * cols, grid_text(rows, cols, 1), {rows, cols, l}, l, {}, {}, {},
             {},       {}};
  s.tile = [cols, l](int rank, int t) {
    const int i = rank / cols;
    const int j = rank % cols;
    return Tile{i, j, (i + j + t) % l};
  };
  s.owner_a = [cols, l](int i, int k) { return i * cols + wrapped(k - i, l) % cols; };
  s.owner_b = [rows, cols, l](int j, int k) { return wrapped(k - j, l) % rows * cols + j; };
  s.received = [rows, cols, l](const Tiling& t, int rank) {
    const int i = rank / cols;
    const int j = rank % cols;
    Volume all;
    if (t.m.empty(i) || t.n.empty(j)) return all;
    for (int k = 0; k < l; ++k) {
      const bool own_a = wrapped(k - i - j, cols) == 0;
      const bool own_b = wrapped(k - i - j, rows) == 0;
      all.a += own_a ? 0 : t.m.size(i) * t.k.size(k);
      all.b += own_b ? 0 : t.n.size(j) * t.k.size(k);
    }
    return all;
  };
  return s;
}

Grid squarest(int pes) {
  Grid best{1, pes};
  for (int rows = 1; rows <= pes / rows; ++rows) {
    if (pes % rows == 0) best = Grid{rows, pes / rows};
  }
  return best;
}

const std::vector<ScheduleMaker>& schedules() {
  static const std::vector<ScheduleMaker> all{
      line("ag_a", "all-gather: each rank fetches all of A, and computes a part of n", ag_a),
      line("ag_b", "all-gather: each rank fetches all of B, and computes a part of m", ag_b),
      line("rs_a", "reduce-scatter: partial sums over k travel, each rank gets a part of m", rs_a),
      line("rs_b", "reduce-scatter: partial sums over k travel, each rank gets a part of n", rs_b),
      {"cannon", "a grid of ranks: A moves along its rows, B along its columns", cannon_of}};
  return all;
}

const ScheduleMaker& find_schedule(const std::string& name) {
  std::vector<std::string> names;
  for (const ScheduleMaker& maker : schedules()) {
    if (maker.name == name) return maker;
    names.push_back(maker.name);
  }
  throw UsageError("unknown GEMM schedule '" + name + "'; the nearest is '" +
                   nearest_name(name, names) + "'");
}

}  // namespace sym::gemm
