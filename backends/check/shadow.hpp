// Shadow: who last wrote and who since read each byte, as disjoint ranges. The cost follows the
// number of distinct ranges, not of bytes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "backends/check/clock.hpp"
#include "backends/fiber/engine.hpp"

namespace sym::check {

// One access by a verb or a transfer, as later ones need to see it.
struct Access {
  AgentId agent = 0;
  std::uint64_t tick = 0;        // of the agent when it accessed (direct) or issued (transfer)
  std::uint64_t lane_epoch = 0;  // syncs of the block so far (direct)
  std::uint64_t piece = 0;       // of a warps(), from 1; 0 outside
  std::uint64_t order = 0;       // transfers: among the issuer's; 0 for a direct access
  int to_pe = -1;                // transfers ordered by fences: their target
  std::uint64_t pe_order = 0;
  bool write = false;
  bool atomic = false;
  bool of_word = false;  // a signal, wait or test
  // Of a transfer that writes: the last one of the same op to bytes of it, if nobody has been known
  // to use them since.
  struct Round {
    AgentId agent = -1;  // -1: none
    std::uint64_t order = 0;
    std::uint64_t pe_order = 0;
  } last_round;
  // A message of packets, or its receipt: the word that is its flag, and which message of that
  // word. The two ends prove themselves to each other, and to nobody else.
  const fiber::Word* message = nullptr;
  std::uint64_t message_epoch = 0;
  fiber::Bytes bytes;  // the whole range that the verb named
  fiber::Verb verb = fiber::Verb::host;
  Site site;
  int pe = 0;
  int block = 0;
  int queue = -1;  // an operation of this queue, and no block
  int stream = 0;
  int launch = 0;
  const char* launch_name = "";
};
using AccessRef = std::shared_ptr<const Access>;

// Whether two pieces of one warps() did them: unordered, whatever they touch.
inline bool pieces_apart(const Access& a, const Access& b) {
  return a.agent == b.agent && a.lane_epoch == b.lane_epoch && a.piece != b.piece;
}

// Of two that touch the same bytes.
inline bool conflicting(const Access& a, const Access& b) {
  const bool one_message = a.message != nullptr && a.message == b.message;
  if (one_message && a.message_epoch == b.message_epoch) return false;
  if (a.atomic && b.atomic) return a.bytes.begin != b.bytes.begin || a.bytes.size != b.bytes.size;
  return a.write || b.write;
}

class Shadow {
 public:
  // Records `access` over `bytes`, and calls `conflict` for each earlier access that touches one of
  // them, where one of the two writes (and not both are atomic, on the very same bytes).
  // `ordered(earlier)` says whether the earlier access happens before this one; those that do and
  // are superseded are forgotten.
  template <class Ordered, class Conflict>
  void record(const fiber::Bytes& bytes, const AccessRef& access, const Ordered& ordered,
              const Conflict& conflict);
  // Calls `seen` for each access of one of the bytes.
  template <class Seen>
  void visit(const fiber::Bytes& bytes, const Seen& seen) const;
  // Whether every byte has been written in the launch.
  bool written(const fiber::Bytes& bytes, int launch) const;
  void clear() { spaces_.clear(); }
  std::size_t ranges() const;

 private:
  struct Cell {
    std::size_t end = 0;
    AccessRef write;               // the last that is no atomic
    std::vector<AccessRef> since;  // reads and atomics
  };
  using Cells = std::map<std::size_t, Cell>;
  using At = Cells::iterator;
  // Of one space. Neighbours are touched one after the other, more often than not.
  struct Ranges : Cells {
    At last = end();  // the cell that the last access has ended at
  };
  static bool stood_for(const Access& access, const std::vector<AccessRef>& since);
  static void split(Ranges& ranges, std::size_t at);
  static At begin_at(Ranges& ranges, const fiber::Bytes& bytes);
  static void fill_gap(Ranges& ranges, At& cell, std::size_t at, std::size_t end);
  static At merged(Ranges& ranges, At cell, std::size_t first);
  static std::uint64_t key(int pe, int space) {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(pe)) << 32 |
           static_cast<std::uint32_t>(space);
  }
  std::unordered_map<std::uint64_t, Ranges> spaces_;
};

template <class Seen>
void Shadow::visit(const fiber::Bytes& bytes, const Seen& seen) const {
  const auto space = spaces_.find(key(bytes.pe, bytes.space));
  if (space == spaces_.end()) return;
  auto cell = space->second.upper_bound(bytes.begin);
  if (cell != space->second.begin()) --cell;
  for (; cell != space->second.end() && cell->first < bytes.end(); ++cell) {
    if (cell->second.end <= bytes.begin) continue;
    if (cell->second.write != nullptr) seen(*cell->second.write);
    for (const AccessRef& one : cell->second.since) seen(*one);
  }
}

template <class Ordered, class Conflict>
void Shadow::record(const fiber::Bytes& bytes, const AccessRef& access, const Ordered& ordered,
                    const Conflict& conflict) {
  if (bytes.size == 0) return;
  Ranges& ranges = spaces_[key(bytes.pe, bytes.space)];
  auto cell = begin_at(ranges, bytes);
  std::size_t at = bytes.begin;
  while (at < bytes.end()) {
    fill_gap(ranges, cell, at, bytes.end());
    Cell& here = cell->second;
    if (here.write != nullptr && conflicting(*here.write, *access)) conflict(*here.write);
    for (const AccessRef& earlier : here.since) {
      if (conflicting(*earlier, *access)) conflict(*earlier);
    }
    if (access->write && !access->atomic) {
      here.write = access;
      here.since.clear();
    } else {
      // One of a kind that happens before this one needs no memory: whoever is after this one is
      // after it.
      std::erase_if(here.since, [&](const AccessRef& earlier) {
        return earlier->atomic == access->atomic && ordered(*earlier);
      });
      if (!stood_for(*access, here.since)) here.since.push_back(access);
    }
    at = here.end;
    ranges.last = merged(ranges, cell, bytes.begin);
    cell = std::next(ranges.last);
  }
}

}  // namespace sym::check
