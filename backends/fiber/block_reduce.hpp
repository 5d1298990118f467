// The reductions of FiberBlock: plain, with an element function, of tiles, and of packets. Part of
// block.hpp, at whose end it stands.
#pragma once

#include <cstring>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "backends/fiber/block.hpp"

namespace sym::fiber {

template <class T>
std::vector<const T*> FiberBlock::gathered(Window<T> src, Range range, const Team& team,
                                           const Bytes& to) {
  std::vector<const T*> sources;
  for (int rank = 0; rank < team.size(); ++rank) {
    const Bytes from = resolve(src, range, team.pe(rank));
    engine_.refuse_overlap(from, to);
    engine_.access(from, false);
    sources.push_back(reinterpret_cast<const T*>(from.data));
  }
  return sources;
}

template <Operand D, class T, class Op>
void FiberBlock::reduce_row(D dst, Window<T> src, Range range, const Team& team, Op op) {
  if (range.empty()) return;
  const Bytes to = resolve(dst, range, agent_.pe);
  const std::vector<const T*> sources = gathered(src, range, team, to);
  engine_.access(to, true);
  if (to.data == nullptr || sources[0] == nullptr) return;
  if (agent_.failed) {
    std::memset(to.data, 0, to.size);
    return;
  }
  host::reduce(reinterpret_cast<T*>(to.data), std::span<const T* const>(sources), range.count, op);
}

template <class C, sym::Memory... S>
void FiberBlock::with_operands(Range range, [[maybe_unused]] const Bytes& to, C compute,
                               S... operands) {
  bool stored = true;
  [[maybe_unused]] const auto operand = [&](auto memory) {
    Bytes from = resolve(memory, range, agent_.pe);
    from.element = to.element;
    engine_.refuse_overlap(from, to);
    engine_.access(from, false);
    stored = stored && from.data != nullptr;
    return reinterpret_cast<const typename decltype(memory)::value_type*>(from.data);
  };
  const std::tuple<const typename S::value_type*...> pointers{operand(operands)...};
  if (stored) std::apply(compute, pointers);
}

template <sym::Memory D, class T, class Op, class F, sym::Memory... S>
void FiberBlock::reduce(D dst, Window<T> src, RangeAt at, const Team& team, Op op, F f, S... more) {
  static_assert(std::is_same_v<typename D::value_type, T>, "reduce keeps the element type");
  const Range range = at.range;
  const int operands = 1 + static_cast<int>(sizeof...(S));
  engine_.step({Verb::reduce, at.site, range.count * sizeof(T), operands, -1, &team});
  if (range.empty()) return;
  const Bytes to = resolve(dst, range, agent_.pe);
  const std::vector<const T*> sources = gathered(src, range, team, to);
  const auto compute = [&](auto... others) {
    if (to.data == nullptr || sources[0] == nullptr || agent_.failed) return;
    host::reduce_map(reinterpret_cast<T*>(to.data), std::span<const T* const>(sources), range.count,
                     op, f, others...);
  };
  with_operands(range, to, compute, more...);
  engine_.access(to, true);
  if (agent_.failed && to.data != nullptr) std::memset(to.data, 0, to.size);
}

template <class T, class Op>
void FiberBlock::reduce(Matrix<T> dst, Matrix<T> src, const Team& team, Op op, Site site) {
  engine_.step({Verb::reduce, site, dst.rows * dst.cols * sizeof(T), 1, -1, &team});
  if (dst.rows != src.rows || dst.cols != src.cols || dst.ld < dst.cols || src.ld < src.cols) {
    engine_.refuse("reduce: a tile of " + std::to_string(src.rows) + " x " +
                   std::to_string(src.cols) + " elements (ld " + std::to_string(src.ld) +
                   ") into one of " + std::to_string(dst.rows) + " x " + std::to_string(dst.cols) +
                   " (ld " + std::to_string(dst.ld) + "); shapes must be equal, and ld >= cols");
  }
  // Rows are no order: one may be written before another is read.
  if (team.rank() >= 0 && overlap(dst, src) && !same_place(dst, src)) {
    const auto bytes = [&](const Matrix<T>& tile) {
      return resolve(tile.data, Range{0, tile.span()}, agent_.pe);
    };
    engine_.refuse_overlapping(bytes(src), bytes(dst), Engine::Same::may_be);
  }
  engine_.synced();
  for (std::size_t row = 0; row < dst.rows; ++row) {
    reduce_row(dst.data.at(row * dst.ld), src.data.at(row * src.ld), Range{0, dst.cols}, team, op);
  }
  engine_.synced();
}

template <class D>
void FiberBlock::refuse_overlaps(PerMember<D> dst, const Bytes& own, Range range,
                                 const Team& team) {
  Bytes before;
  for (int rank = 0; rank < team.size(); ++rank) {
    const Bytes to = resolve(dst.of(rank), range, agent_.pe);
    const bool mine = team.pe(rank) == agent_.pe;
    if (team.contains_self())
      engine_.refuse_overlap(own, to, mine ? Engine::Same::may_be : Engine::Same::refused);
    if (rank > 0) engine_.refuse_overlap(before, to, Engine::Same::refused);
    before = to;
  }
}

template <class T, Operand S>
bool FiberBlock::received(S own, Range range, const Packets& packets, std::size_t slot,
                          const Team& team, std::vector<const T*>& sources) {
  return receive_packets(packets, slot, team, {range, sizeof(T)}, [&](int pe, std::byte* message) {
    sources.push_back(reinterpret_cast<const T*>(
        pe == agent_.pe ? resolve(own, range, agent_.pe).data : message));
  });
}

template <Operand D, Operand S, class Op>
bool FiberBlock::reduce_packets(D dst, S own, Range range, const Packets& packets, std::size_t slot,
                                const Team& team, Op op, Site site) {
  using T = typename D::value_type;
  engine_.step({Verb::reduce_packets_wait, site, 0, 1, -1, &team});
  const Bytes to = resolve(dst, range, agent_.pe);
  std::vector<const T*> sources;
  if (!received(own, range, packets, slot, team, sources)) return false;
  engine_.step({Verb::reduce_packets, site, to.size, 1, -1, &team});
  const Bytes mine = resolve(own, range, agent_.pe);
  engine_.refuse_overlap(mine, to);
  engine_.access(mine, false);
  engine_.access(to, true);
  engine_.synced();
  if (to.data != nullptr && sources[0] != nullptr) {
    host::reduce(reinterpret_cast<T*>(to.data), std::span<const T* const>(sources), range.count,
                 op);
  }
  return true;
}

template <sym::Memory D, Operand S, class Op, class F, sym::Memory... More>
bool FiberBlock::reduce_packets(D dst, S own, RangeAt at, const Packets& packets, std::size_t slot,
                                const Team& team, Op op, F f, More... more) {
  using T = typename D::value_type;
  const Range range = at.range;
  engine_.step({Verb::reduce_packets_wait, at.site, 0, 1, -1, &team});
  const Bytes to = resolve(dst, range, agent_.pe);
  std::vector<const T*> sources;
  if (!received(own, range, packets, slot, team, sources)) return false;
  const int operands = 1 + static_cast<int>(sizeof...(More));
  engine_.step({Verb::reduce_packets, at.site, to.size, operands, -1, &team});
  const Bytes mine = resolve(own, range, agent_.pe);
  engine_.refuse_overlap(mine, to);
  engine_.access(mine, false);
  const auto compute = [&](auto... others) {
    if (to.data == nullptr || sources[0] == nullptr) return;
    host::reduce_map(reinterpret_cast<T*>(to.data), std::span<const T* const>(sources), range.count,
                     op, f, others...);
  };
  with_operands(range, to, compute, more...);
  engine_.access(to, true);
  engine_.synced();
  return true;
}

}  // namespace sym::fiber
