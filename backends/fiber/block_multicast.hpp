// FiberBlock through a multicast view of a window. Part of block.hpp, at whose end it stands.
//
// To the checker a store to all is a put to each, and what the switch combines is read from each;
// that both are sent once is the simulator's business.
#pragma once

#include <cstring>
#include <span>
#include <vector>

#include "backends/fiber/block.hpp"

namespace sym::fiber {

template <class T, Operand S>
void FiberBlock::put(Multicast<T> dst, S src, Range range, Site site) {
  engine_.step({Verb::multicast_put, site, range.count * sizeof(T), 1, -1, &dst.team});
  if (agent_.failed || range.empty()) return;
  const Bytes from = resolve(src, range, agent_.pe);
  for (int rank = 0; rank < dst.team.size(); ++rank) {
    const Bytes to = resolve(dst.window, range, dst.team.pe(rank));
    const bool itself = to.pe == from.pe && to.space == from.space && to.begin == from.begin;
    if (!itself) engine_.put(from, to, Transfer::Kind::put);
  }
}

template <Operand D, class T, class Op>
void FiberBlock::reduce(D dst, Multicast<T> src, Range range, Op op, Site site) {
  engine_.step({Verb::multicast_reduce, site, range.count * sizeof(T), 1, -1, &src.team});
  reduce_row(dst, src.window, range, src.team, op);
}

// The sums are in registers, which nothing else can change: values, on their way to each member.
template <class T, class Op>
void FiberBlock::reduce(Multicast<T> dst, Multicast<T> src, Range range, Op op, Site site) {
  engine_.step({Verb::multicast_all_reduce, site, range.count * sizeof(T), 1, -1, &src.team});
  if (range.empty()) return;
  const Bytes own = resolve(dst.window, range, agent_.pe);
  const std::vector<const T*> sources = gathered(src.window, range, src.team, own);
  if (agent_.failed) return;
  std::vector<std::byte> sums;
  if (sources[0] != nullptr) {
    sums.resize(range.count * sizeof(T));
    host::reduce(reinterpret_cast<T*>(sums.data()), std::span<const T* const>(sources), range.count,
                 op);
  }
  for (int rank = 0; rank < dst.team.size(); ++rank)
    engine_.put_value(sums, resolve(dst.window, range, dst.team.pe(rank)));
}

}  // namespace sym::fiber
