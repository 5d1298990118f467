// The memory of a rehearsal: what each place holds, and who wrote and read it when.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/gemm/tiling.hpp"

namespace sym::gemm::detail {

// For each line of execution, how many of its operations are known to have ended.
using Clock = std::vector<std::uint32_t>;

inline void join(Clock& into, const Clock& other) {
  for (std::size_t i = 0; i < into.size(); ++i) into[i] = into[i] < other[i] ? other[i] : into[i];
}

// Who acts: a line of execution, what it knows, and which of its operations this is.
struct Actor {
  int line = 0;
  const Clock& clock;
};

enum class Room { a, b, c, d, buffer_a, buffer_b, partial };

// A tile's worth of a rank's memory: an operand's tile by its indices, a buffer or partial sum by
// number.
struct Address {
  int rank = 0;
  Room room = Room::a;
  int i = 0, j = 0;
  auto key() const { return std::tuple(rank, room, i, j); }
};

inline std::string tile_text(int row, int col) {
  return "(" + std::to_string(row) + ", " + std::to_string(col) + ")";
}
inline std::string place_text(const Address& where) {
  static const char* const rooms[] = {"A", "B", "C", "D", "A buffer", "B buffer", "partial sum"};
  const bool tile = where.room <= Room::d;
  return std::string(rooms[static_cast<int>(where.room)]) + " " +
         (tile ? tile_text(where.i, where.j) : std::to_string(where.i)) + " of rank " +
         std::to_string(where.rank);
}

// What a place holds: tile (row, col) of A, B or C of a call, and for sums what has been added.
struct Content {
  Room of = Room::a;
  int row = -1, col = -1;
  int call = -1;              // -1: nothing yet
  std::vector<int> products;  // tiles of k
  int c = 0, bias = 0;        // how often each was added
};

class Memory {
 public:
  // Both give a sentence's end if the access is not ordered after what it must follow; else "".
  std::string read(const Address& where, const Actor& who) {
    Cell& cell = cells_[where.key()];
    if (!knows(who, cell.writer, cell.written)) return "reads it before it is written";
    cell.readers[who.line] = who.clock[to_index(who.line)];
    return "";
  }
  std::string write(const Address& where, const Actor& who, Content content) {
    Cell& cell = cells_[where.key()];
    std::string wrong;
    if (!knows(who, cell.writer, cell.written)) wrong = "writes it while another writes it";
    for (const auto& [line, time] : cell.readers) {
      if (!knows(who, line, time)) wrong = "overwrites it before its last reader is done";
    }
    cell.readers.clear();
    cell.writer = who.line;
    cell.written = who.clock[to_index(who.line)];
    cell.content = std::move(content);
    return wrong;
  }
  const Content& content(const Address& where) { return cells_[where.key()].content; }

 private:
  struct Cell {
    Content content;
    int writer = -1;  // a line; -1: nobody yet
    std::uint32_t written = 0;
    std::map<int, std::uint32_t> readers;  // since, by line
  };
  static bool knows(const Actor& who, int line, std::uint32_t time) {
    return line < 0 || who.clock[to_index(line)] >= time;
  }

  std::map<std::tuple<int, Room, int, int>, Cell> cells_;
};

}  // namespace sym::gemm::detail
