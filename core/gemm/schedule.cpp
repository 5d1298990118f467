#include "core/gemm/schedule.hpp"

#include <set>
#include <utility>

#include "core/gemm/partition.hpp"

namespace sym::gemm {

namespace {

// Few faults say as much as many: the first ones, and how many more there are.
class Sentences {
 public:
  void add(std::string text) {
    if (++count_ <= most) list_.push_back(std::move(text));
  }
  bool any() const { return count_ != 0; }
  std::vector<std::string> take() {
    if (count_ > most) list_.push_back("... and " + std::to_string(count_ - most) + " more");
    return std::move(list_);
  }

 private:
  static constexpr int most = 8;
  std::vector<std::string> list_;
  int count_ = 0;
};

std::string at(int rank, int step) {
  return "rank " + std::to_string(rank) + ", step " + std::to_string(step);
}

bool within(const Tile& tile, const Parts& parts) {
  return tile.m >= 0 && tile.m < parts.m && tile.n >= 0 && tile.n < parts.n && tile.k >= 0 &&
         tile.k < parts.k;
}

// Each tile of the iteration space is named exactly once, and no (m, n) twice at one step.
void check_tiles(const Schedule& s, Sentences& found) {
  std::vector<std::string> user(to_index(s.parts.m) * to_index(s.parts.n) * to_index(s.parts.k));
  const auto index = [&s](const Tile& t) {
    return (to_index(t.m) * to_index(s.parts.n) + to_index(t.n)) * to_index(s.parts.k) +
           to_index(t.k);
  };
  for (int step = 0; step < s.steps; ++step) {
    Table<int> busy(s.parts.m, s.parts.n, -1);
    for (int rank = 0; rank < s.pes; ++rank) {
      const std::optional<Tile> named = s.tile(rank, step);
      if (!named) continue;
      const Tile& tile = named.value();
      if (!within(tile, s.parts)) {
        found.add(at(rank, step) + " works on tile " + text_of(tile) + "; there are " +
                  text_of({s.parts.m, s.parts.n, s.parts.k}) + " parts");
        continue;
      }
      std::string& other = user[index(tile)];
      if (!other.empty())
        found.add(at(rank, step) + " works on tile " + text_of(tile) + ", as " + other + " does");
      other = at(rank, step);
      int& same = busy(tile.m, tile.n);
      if (same >= 0) {
        found.add("ranks " + std::to_string(same) + " and " + std::to_string(rank) +
                  " both add to tile (" + std::to_string(tile.m) + ", " + std::to_string(tile.n) +
                  ") of C at step " + std::to_string(step));
      }
      same = rank;
    }
  }
  for (int m = 0; m < s.parts.m; ++m) {
    for (int n = 0; n < s.parts.n; ++n) {
      for (int k = 0; k < s.parts.k; ++k) {
        const Tile tile{m, n, k};
        if (user[index(tile)].empty()) found.add("nobody works on tile " + text_of(tile));
      }
    }
  }
}

// Every tile has an owner, and each rank's tiles are all pairs of some rows and some columns.
void check_owners(const Schedule& s, Which which, Sentences& found) {
  const Table<int> owners = owners_of(s, which);
  const std::string name = std::string(" of ") + name_of(which);
  std::vector<std::set<int>> rows(to_index(s.pes));
  std::vector<std::set<int>> cols(to_index(s.pes));
  std::vector<std::size_t> count(to_index(s.pes));
  for (int row = 0; row < owners.rows(); ++row) {
    for (int col = 0; col < owners.cols(); ++col) {
      const int owner = owners(row, col);
      if (owner < 0 || owner >= s.pes) {
        found.add("tile (" + std::to_string(row) + ", " + std::to_string(col) + ")" + name +
                  " belongs to rank " + std::to_string(owner) + "; there are " +
                  std::to_string(s.pes));
        continue;
      }
      rows[to_index(owner)].insert(row);
      cols[to_index(owner)].insert(col);
      ++count[to_index(owner)];
    }
  }
  for (int rank = 0; rank < s.pes; ++rank) {
    const std::size_t all = rows[to_index(rank)].size() * cols[to_index(rank)].size();
    if (count[to_index(rank)] == all) continue;
    found.add("the " + std::to_string(count[to_index(rank)]) + " tiles" + name + " of rank " +
              std::to_string(rank) + " are not all pairs of their rows and columns, which are " +
              std::to_string(all) + ": they make no matrix");
  }
}

}  // namespace

std::vector<std::string> check_schedule(const Schedule& s) {
  Sentences found;
  if (!s.tile || s.pes < 1 || s.steps < 1 || s.parts.m < 1 || s.parts.n < 1 || s.parts.k < 1) {
    found.add("a schedule has a function, and at least 1 rank, 1 step and 1 part of each axis");
    return found.take();
  }
  check_tiles(s, found);
  if (found.any()) return found.take();
  for (const Which which : all_operands) check_owners(s, which, found);
  return found.take();
}

}  // namespace sym::gemm
