#include "backends/check/shadow.hpp"

namespace sym::check {

// Makes `at` a boundary between cells.
void Shadow::split(Ranges& ranges, std::size_t at) {
  auto next = ranges.upper_bound(at);
  if (next == ranges.begin()) return;
  auto cell = std::prev(next);
  if (cell->first == at || cell->second.end <= at) return;
  Cell right = cell->second;
  cell->second.end = at;
  ranges.emplace_hint(next, at, std::move(right));
}

// The first cell of the bytes, or of what follows them; no cell lies across one of their ends.
Shadow::At Shadow::begin_at(Ranges& ranges, const fiber::Bytes& bytes) {
  const auto is_whole = [&](At cell) {
    return cell != ranges.end() && cell->first == bytes.begin && cell->second.end == bytes.end();
  };
  // The usual case: the same range as before; or the one behind the last.
  if (is_whole(ranges.last)) return ranges.last;
  if (ranges.last != ranges.end() && is_whole(std::next(ranges.last)))
    return std::next(ranges.last);
  const auto cell = ranges.lower_bound(bytes.begin);
  if (is_whole(cell)) return cell;
  split(ranges, bytes.begin);
  split(ranges, bytes.end());
  return ranges.lower_bound(bytes.begin);
}

// Puts a cell at `at`, unless `cell` is there, for what has not been touched so far.
void Shadow::fill_gap(Ranges& ranges, At& cell, std::size_t at, std::size_t end) {
  if (cell != ranges.end() && cell->first == at) return;
  const std::size_t gap = cell == ranges.end() ? end : std::min(end, cell->first);
  cell = ranges.emplace_hint(cell, at, Cell{gap, nullptr, {}});
}

// The cell, one with that before it if that begins at `first` or later and says the same.
Shadow::At Shadow::merged(Ranges& ranges, At cell, std::size_t first) {
  if (cell->first <= first) return cell;
  const auto before = std::prev(cell);
  const bool same = before->second.end == cell->first &&
                    before->second.write == cell->second.write &&
                    before->second.since == cell->second.since;
  if (!same) return cell;
  before->second.end = cell->second.end;
  ranges.erase(cell);
  return before;
}

// Whether two pieces of the reader's warps() have read already: no other piece could write without
// a conflict with one of them, and whoever comes after the warps() comes after all its pieces. So
// what thousands of pieces read is kept twice.
bool Shadow::stood_for(const Access& access, const std::vector<AccessRef>& since) {
  const Access* first = nullptr;
  if (access.piece == 0 || access.order != 0 || access.atomic) return false;
  for (const AccessRef& read : since) {
    if (read->order != 0 || read->atomic || !pieces_apart(*read, access)) continue;
    if (first != nullptr && first->piece != read->piece) return true;
    first = read.get();
  }
  return false;
}

bool Shadow::written(const fiber::Bytes& bytes, int launch) const {
  const auto space = spaces_.find(key(bytes.pe, bytes.space));
  if (space == spaces_.end()) return bytes.size == 0;
  std::size_t at = bytes.begin;
  auto cell = space->second.upper_bound(at);
  if (cell != space->second.begin()) --cell;
  while (at < bytes.end()) {
    const bool here = cell != space->second.end() && cell->first <= at && cell->second.end > at;
    if (!here || cell->second.write == nullptr || cell->second.write->launch != launch)
      return false;
    at = cell->second.end;
    ++cell;
  }
  return true;
}

std::size_t Shadow::ranges() const {
  std::size_t total = 0;
  for (const auto& [space, ranges] : spaces_) total += ranges.size();
  return total;
}

}  // namespace sym::check
