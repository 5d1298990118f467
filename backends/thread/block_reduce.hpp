// ThreadBlock's reductions that do more than add: with an element function, and of tiles. Included
// by block.hpp.
#pragma once

#include "backends/thread/block.hpp"

namespace sym::thread {

template <Memory D, class T, class Op, class F, Memory... S>
void ThreadBlock::reduce(D dst, Window<T> src, RangeAt at, const Team& team, Op op, F f,
                         S... more) {
  static_assert(std::is_same_v<typename D::value_type, T>, "reduce keeps the element type");
  T* to = address(dst, at.range, place_.pe, at.site);
  std::vector<const T*> sources;
  for (int rank = 0; rank < team.size(); ++rank) {
    sources.push_back(address(src, at.range, team.pe(rank), at.site));
  }
  const std::tuple others{read_address(more, at.range, at.site)...};
  if (at.range.empty()) return;
  if (failed()) {
    if (to != nullptr) std::memset(static_cast<void*>(to), 0, at.range.count * sizeof(T));
    return;
  }
  std::apply(
      [&](auto... other) {
        host::reduce_map(to, std::span<const T* const>(sources), at.range.count, op, f, other...);
      },
      others);
}

template <class T, class Op>
void ThreadBlock::reduce(Matrix<T> dst, Matrix<T> src, const Team& team, Op op, Site site) {
  if (dst.rows != src.rows || dst.cols != src.cols || dst.ld < dst.cols || src.ld < src.cols) {
    return fail("reduce: tiles of different shapes, or of rows that overlap", site);
  }
  for (std::size_t row = 0; row < dst.rows && !failed(); ++row) {
    reduce(dst.data.at(row * dst.ld), src.data.at(row * src.ld), Range{0, dst.cols}, team, op,
           site);
  }
}

template <Memory D, Operand S, class Op, class F, Memory... More>
bool ThreadBlock::reduce_packets(D dst, S own, RangeAt at, const Packets& packets, std::size_t slot,
                                 const Team& team, Op op, F f, More... more) {
  using T = typename D::value_type;
  T* to = address(dst, at.range, place_.pe, at.site);
  const std::tuple others{read_address(more, at.range, at.site)...};
  const std::vector<const T*> sources = received<T>(own, at, packets, slot, team);
  if (failed()) return false;
  std::apply(
      [&](auto... other) {
        host::reduce_map(to, std::span<const T* const>(sources), at.range.count, op, f, other...);
      },
      others);
  return true;
}

static_assert(MulticastBlock<ThreadBlock>);

}  // namespace sym::thread
