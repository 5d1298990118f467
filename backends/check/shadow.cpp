#include "backends/check/shadow.hpp"

#include <algorithm>

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

// Whether two pieces of the reader's warps() have read already: no other piece could write without
// a conflict with one of them, and whoever comes after the warps() comes after all its pieces. So
// what thousands of pieces read is kept twice.
bool Shadow::stood_for(const Access& access, const std::vector<AccessRef>& reads) {
  const Access* first = nullptr;
  if (access.piece == 0 || access.order != 0) return false;
  for (const AccessRef& read : reads) {
    if (read->order != 0 || !pieces_apart(*read, access)) continue;
    if (first != nullptr && first->piece != read->piece) return true;
    first = read.get();
  }
  return false;
}

void Shadow::record(const fiber::Bytes& bytes, const AccessRef& access,
                    const std::function<bool(const Access&)>& ordered,
                    const std::function<void(const Access&)>& conflict) {
  if (bytes.size == 0) return;
  Ranges& ranges = spaces_[{bytes.pe, bytes.space}];
  split(ranges, bytes.begin);
  split(ranges, bytes.end());
  std::size_t at = bytes.begin;
  auto cell = ranges.lower_bound(at);
  while (at < bytes.end()) {
    if (cell == ranges.end() || cell->first > at) {  // untouched so far
      const std::size_t end =
          cell == ranges.end() ? bytes.end() : std::min(bytes.end(), cell->first);
      cell = ranges.emplace_hint(cell, at, Cell{end, nullptr, {}});
    }
    Cell& here = cell->second;
    const auto check = [&](const AccessRef& earlier) {
      if (earlier == nullptr || (earlier->atomic && access->atomic)) return;
      conflict(*earlier);
    };
    check(here.write);
    if (access->write) {
      for (const AccessRef& read : here.reads) check(read);
      here.write = access;
      here.reads.clear();
    } else {
      // A read that happens before this one needs no memory: whoever is after this one is after it.
      std::erase_if(here.reads, [&](const AccessRef& read) { return ordered(*read); });
      if (!stood_for(*access, here.reads)) here.reads.push_back(access);
    }
    at = here.end;
    ++cell;
  }
}

void Shadow::forget(int pe, int space) { spaces_.erase({pe, space}); }

std::size_t Shadow::ranges() const {
  std::size_t total = 0;
  for (const auto& [key, ranges] : spaces_) total += ranges.size();
  return total;
}

}  // namespace sym::check
