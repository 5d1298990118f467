// The verbs of FiberBlock that routing is made of: read, tally, scan, weighted_sum, reduce_slots
// and warps. Part of block.hpp, at whose end it stands.
#pragma once

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "backends/fiber/block.hpp"

namespace sym::fiber {

// A piece of FiberBlock::warps. Its verbs are no decision points: pieces run one after the other
// and nothing comes between, which is one of the orders that are allowed. The race detector takes
// them as unordered whatever the run did.
class FiberPiece {
 public:
  explicit FiberPiece(FiberBlock& block) : block_(block) {}

  template <class T, Operand S>
  void put(Window<T> dst, S src, Range range, int pe, Site site = Site::here()) {
    block_.engine_.pass({Verb::put, site, range.count * sizeof(T), 1, pe, nullptr});
    if (block_.agent_.failed || range.empty()) return;
    block_.engine_.put(block_.resolve(src, range, block_.agent_.pe), block_.resolve(dst, range, pe),
                       Transfer::Kind::put);
  }
  template <sym::Memory S>
  typename S::value_type read(S src, std::size_t index, Site site = Site::here()) {
    block_.engine_.pass({Verb::read, site, sizeof(typename S::value_type), 1, -1, nullptr});
    return block_.read_element(src, index);
  }
  template <Operand D, class T, class F>
  void weighted_sum(D dst, Window<T> src, Range range, int n, F term, Site site = Site::here()) {
    const Step step{Verb::weighted_sum, site, range.count * sizeof(T), n, -1, nullptr};
    block_.engine_.pass(step);
    if (range.empty()) return;
    const Bytes to = block_.resolve(dst, range, block_.agent_.pe);
    block_.add_up(to, block_.terms(src, range, n, term, step));
  }

 private:
  FiberBlock& block_;
};

static_assert(Piece<FiberPiece>);

template <sym::Memory S>
typename S::value_type FiberBlock::read_element(S src, std::size_t index) {
  using T = typename S::value_type;
  if (agent_.failed) return T{};
  if (index >= src.count) {  // it may come from data; resolve would let it reach the neighbour
    engine_.refuse("out of bounds: read of element " + std::to_string(index) + " of " +
                   std::to_string(src.count));
  }
  Bytes from = resolve(src, Range{index, 1}, agent_.pe);
  from.element = 0;
  engine_.access(from, false);
  T value{};
  if (from.data != nullptr) std::memcpy(&value, from.data, sizeof(T));
  return value;
}

template <sym::Memory S>
typename S::value_type FiberBlock::read(S src, std::size_t index, Site site) {
  before(Verb::read, site, sizeof(typename S::value_type), -1);
  return read_element(src, index);
}

template <Operand K, class F>
void FiberBlock::tally_keys(Scratch<std::uint32_t> counts, K keys, Range range, F count) {
  engine_.synced();
  if (agent_.failed) return;
  const Bytes from = resolve(keys, range, agent_.pe);
  const Bytes to = resolve(counts, counts.all(), agent_.pe);
  engine_.refuse_overlap(from, to, Engine::Same::refused);
  engine_.access(from, false);
  engine_.access(to, false);  // it counts on from what is there
  engine_.access(to, true);
  if (range.empty()) return engine_.synced();
  count(reinterpret_cast<std::uint32_t*>(to.data),
        reinterpret_cast<const typename K::value_type*>(from.data));
  engine_.synced();
}

// The places of the keys that count, in runs: the others stay as they are.
template <class T>
void FiberBlock::write_places(const Bytes& to, const T* keys, std::size_t n, std::size_t bins) {
  if (keys == nullptr) return engine_.access(to, true);
  const auto counts = [&](std::size_t i) {
    return keys[i] >= 0 && static_cast<std::size_t>(keys[i]) < bins;
  };
  for (std::size_t first = 0; first < n; ++first) {
    if (!counts(first)) continue;
    std::size_t end = first + 1;
    while (end < n && counts(end)) ++end;
    engine_.access(to.part(first * to.element, (end - first) * to.element), true);
    first = end;
  }
}

template <Operand K>
bool FiberBlock::tally(Scratch<std::uint32_t> counts, K keys, Range range, Site site) {
  before(Verb::tally, site, range.count * sizeof(typename K::value_type), -1);
  bool sound = true;
  tally_keys(counts, keys, range, [&](std::uint32_t* found, const auto* all) {
    if (all != nullptr) sound = host::tally(found, counts.count, all, range.count);
  });
  return sound;
}

template <Operand K, sym::Memory P>
void FiberBlock::tally(Scratch<std::uint32_t> counts, K keys, Range range, P places, Site site) {
  engine_.step({Verb::tally, site, range.count * sizeof(typename K::value_type), 2, -1, nullptr});
  tally_keys(counts, keys, range, [&](std::uint32_t* found, const auto* all) {
    const Bytes to = resolve(places, range, agent_.pe);
    engine_.refuse_overlap(resolve(counts, counts.all(), agent_.pe), to, Engine::Same::refused);
    engine_.refuse_overlap(resolve(keys, range, agent_.pe), to);
    write_places(to, all, range.count, counts.count);
    auto* place = reinterpret_cast<typename P::value_type*>(to.data);
    if (all == nullptr) return;
    if (place == nullptr) {
      host::tally(found, counts.count, all, range.count);
    } else {
      host::tally(found, counts.count, all, range.count, place);
    }
  });
}

template <sym::Memory D, sym::Memory S, class F>
typename D::value_type FiberBlock::scan(D dst, S src, Range range, F f, Site site) {
  using T = typename D::value_type;
  using From = typename S::value_type;
  engine_.step({Verb::scan, site, range.count * sizeof(T), 1, -1, nullptr});
  engine_.synced();
  if (agent_.failed) return T{};
  const Bytes from = resolve(src, range, agent_.pe);
  const Bytes to = resolve(dst, range, agent_.pe);
  engine_.refuse_overlap(from, to);
  engine_.access(from, false);
  engine_.access(to, true);
  engine_.synced();
  if (from.data == nullptr || to.data == nullptr) return T{};
  return host::scan(reinterpret_cast<T*>(to.data), reinterpret_cast<const From*>(from.data),
                    range.count, f);
}

template <class T, class F>
FiberBlock::Terms<T> FiberBlock::terms(Window<T> src, Range range, int n, F term,
                                       const Step& step) {
  Terms<T> all;
  for (int j = 0; j < n; ++j) {
    const Term one = term(j);
    agent_.step = step;
    if (one.pe < 0) continue;
    if (one.first > src.count || range.end() > src.count - one.first) {  // terms come from data
      engine_.refuse("out of bounds: term " + std::to_string(j) + " of weighted_sum is elements " +
                     std::to_string(one.first + range.first) + " to " +
                     std::to_string(one.first + range.end()) + " of a window of " +
                     std::to_string(src.count));
    }
    const Bytes from = resolve(src.at(one.first), range, one.pe);
    all.from.push_back(from);
    all.weights.push_back(one.weight);
    auto& fetches = agent_.fetches;
    const auto found = std::find_if(fetches.begin(), fetches.end(),
                                    [&](const auto& fetch) { return fetch.first == one.pe; });
    if (found == fetches.end()) {
      fetches.emplace_back(one.pe, from.size);
    } else {
      found->second += from.size;
    }
  }
  return all;
}

template <class T>
void FiberBlock::add_up(const Bytes& to, const Terms<T>& terms) {
  bool stored = to.data != nullptr;
  std::vector<const T*> sources;
  for (const Bytes& from : terms.from) {
    engine_.refuse_overlap(from, to);
    engine_.access(from, false);
    stored = stored && from.data != nullptr;
    sources.push_back(reinterpret_cast<const T*>(from.data));
  }
  engine_.access(to, true);
  if (!stored) return;
  if (agent_.failed) {
    std::memset(to.data, 0, to.size);
    return;
  }
  host::weighted_sum(reinterpret_cast<T*>(to.data), std::span<const T* const>(sources),
                     std::span<const float>(terms.weights), to.size / sizeof(T));
}

template <Operand D, class T, class F>
void FiberBlock::weighted_sum(D dst, Window<T> src, Range range, int n, F term, Site site) {
  static_assert(std::is_same_v<typename D::value_type, T>, "rounds to the type that it reads");
  Step step{Verb::weighted_sum, site, range.count * sizeof(T), 0, -1, nullptr};
  agent_.step = step;  // the step needs the operands, and what is wrong with one is this verb's
  const Bytes to = resolve(dst, range, agent_.pe);
  const Terms<T> all = terms(src, range, n, term, step);
  step.operands = static_cast<int>(all.from.size());
  engine_.step(step);
  add_up(to, all);
  agent_.fetches.clear();
}

template <Operand D, Operand S, class T, class Op>
void FiberBlock::reduce_slots(D dst, S own, PerMember<Window<T>> slots, Range range,
                              const Team& team, Op op, Site site) {
  static_assert(std::is_same_v<typename D::value_type, T>, "rounds to the type that it reads");
  static_assert(std::is_same_v<typename S::value_type, T>, "all operands are of one type");
  engine_.step({Verb::reduce_slots, site, range.count * sizeof(T), team.size(), -1, &team});
  if (range.empty()) return;
  const Bytes to = resolve(dst, range, agent_.pe);
  bool stored = to.data != nullptr;
  std::vector<const T*> sources;
  for (int rank = 0; rank < team.size(); ++rank) {
    const Bytes from = team.pe(rank) == agent_.pe ? resolve(own, range, agent_.pe)
                                                  : resolve(slots.of(rank), range, agent_.pe);
    engine_.refuse_overlap(from, to);
    engine_.access(from, false);
    stored = stored && from.data != nullptr;
    sources.push_back(reinterpret_cast<const T*>(from.data));
  }
  engine_.access(to, true);
  if (!stored) return;
  if (agent_.failed) {
    std::memset(to.data, 0, to.size);
    return;
  }
  host::reduce(reinterpret_cast<T*>(to.data), std::span<const T* const>(sources), range.count, op);
}

template <class F>
void FiberBlock::warps(std::size_t n, F f, Site site) {
  const Step step{Verb::warps, site, 0, 1, -1, nullptr};
  engine_.step(step);
  engine_.synced();
  agent_.in_warps = true;
  FiberPiece piece(*this);
  const std::vector<std::size_t> order = engine_.piece_order(n);
  for (std::size_t k = 0; k < n; ++k) {
    const std::size_t i = order.empty() ? k : order[k];
    agent_.piece = i + 1;
    f(piece, i);
  }
  agent_.piece = 0;
  engine_.step(step);
  agent_.in_warps = false;
  agent_.fetches.clear();
  engine_.synced();
}

}  // namespace sym::fiber
