// ThreadBlock's verbs that compute from data: read, tally, scan, weighted_sum, reduce_slots, warps.
// Included by block.hpp.
#pragma once

#include "backends/thread/block.hpp"

namespace sym::thread {

// A plain read: what peers write must have been acquired, or it is a race (ThreadSanitizer). The
// index may come from data, so it is held against the operand itself.
template <Memory S>
typename S::value_type ThreadBlock::read(S src, std::size_t index, Site site) {
  if (index >= src.count && !failed()) {
    fail("out of bounds: read of element " + std::to_string(index) + " of " +
             std::to_string(src.count),
         site);
  }
  if (failed()) return {};
  const auto* from = read_address(src, Range{index, 1}, site);
  return failed() ? typename S::value_type{} : *from;
}

template <Operand K>
bool ThreadBlock::tally(Scratch<std::uint32_t> counts, K keys, Range range, Site site) {
  std::uint32_t* bins = address(counts, counts.all(), place_.pe, site);
  const auto* from = read_address(keys, range, site);
  return failed() || host::tally(bins, counts.count, from, range.count);
}

template <Operand K, Memory P>
void ThreadBlock::tally(Scratch<std::uint32_t> counts, K keys, Range range, P places, Site site) {
  std::uint32_t* bins = address(counts, counts.all(), place_.pe, site);
  const auto* from = read_address(keys, range, site);
  auto* to = address(places, range, place_.pe, site);
  if (!failed()) host::tally(bins, counts.count, from, range.count, to);
}

template <Memory D, Memory S, class F>
typename D::value_type ThreadBlock::scan(D dst, S src, Range range, F f, Site site) {
  auto* to = address(dst, range, place_.pe, site);
  const auto* from = read_address(src, range, site);
  if (failed()) return {};
  return host::scan(to, from, range.count, f);
}

template <Operand D, class T, class F>
void ThreadBlock::weighted_sum(D dst, Window<T> src, Range range, int n, F term, Site site) {
  T* to = address(dst, range, place_.pe, site);
  std::vector<const T*> sources;
  std::vector<float> weights;
  for (int j = 0; j < n && !failed(); ++j) {
    const Term one = term(j);
    if (one.pe < 0) continue;
    // Terms come from data, so a wrong one is told from a wrong window.
    if (one.first > src.count || range.end() > src.count - one.first) {
      fail("out of bounds: term " + std::to_string(j) + " of weighted_sum is elements " +
               std::to_string(one.first + range.first) + " to " +
               std::to_string(one.first + range.end()) + " of a window of " +
               std::to_string(src.count),
           site);
      break;
    }
    sources.push_back(address(src.at(one.first), range, one.pe, site));
    weights.push_back(one.weight);
  }
  if (failed()) {
    if (to != nullptr) std::memset(static_cast<void*>(to), 0, range.count * sizeof(T));
    return;
  }
  host::weighted_sum(to, std::span<const T* const>(sources), std::span<const float>(weights),
                     range.count);
}

template <Operand D, Operand S, class T, class Op>
void ThreadBlock::reduce_slots(D dst, S own, PerMember<Window<T>> slots, Range range,
                               const Team& team, Op op, Site site) {
  static_assert(std::is_same_v<typename S::value_type, T>, "all operands are of one type");
  T* to = address(dst, range, place_.pe, site);
  std::vector<const T*> sources;
  for (int rank = 0; rank < team.size(); ++rank) {
    sources.push_back(team.pe(rank) == place_.pe ? read_address(own, range, site)
                                                 : read_address(slots.of(rank), range, site));
  }
  if (range.empty()) return;
  if (failed()) {
    if (to != nullptr) std::memset(static_cast<void*>(to), 0, range.count * sizeof(T));
    return;
  }
  host::reduce(to, std::span<const T* const>(sources), range.count, op);
}

// A piece of warps(): the block itself, of which it may use what a warp can do alone.
class ThreadPiece {
 public:
  explicit ThreadPiece(ThreadBlock& block) : block_(block) {}

  template <class T, Operand S>
  void put(Window<T> dst, S src, Range range, int pe, Site site = Site::here()) {
    block_.put(dst, src, range, pe, site);
  }
  template <Memory S>
  typename S::value_type read(S src, std::size_t index, Site site = Site::here()) {
    return block_.read(src, index, site);
  }
  template <Operand D, class T, class F>
  void weighted_sum(D dst, Window<T> src, Range range, int n, F term, Site site = Site::here()) {
    block_.weighted_sum(dst, src, range, n, term, site);
  }

 private:
  ThreadBlock& block_;
};
static_assert(Piece<ThreadPiece>);

template <class F>
void ThreadBlock::warps(std::size_t n, F piece, Site) {
  ThreadPiece one(*this);
  for (std::size_t i = 0; i < n && !failed(); ++i) piece(one, i);
}

}  // namespace sym::thread
