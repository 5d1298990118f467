// Element loops of the host backends: what a verb computes, once the backend knows where the
// operands are. Plain pointers that are valid for [0, n); tiles of 1024 elements so that compilers
// vectorise.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/types.hpp"

namespace sym::host {

inline constexpr std::size_t tile = 1024;

// dst[i] = finish(combine(... combine(sources[0][i], sources[1][i]) ...)). dst may be one of the
// sources: a tile is read whole before it is written.
template <class T, class Op>
void reduce(T* dst, std::span<const T* const> sources, std::size_t n, Op op) {
  std::array<Accumulator<T>, tile> total;
  for (std::size_t begin = 0; begin < n; begin += tile) {
    const std::size_t m = std::min(tile, n - begin);
    for (std::size_t i = 0; i < m; ++i) total[i] = widen(sources[0][begin + i]);
    for (std::size_t s = 1; s < sources.size(); ++s) {
      const T* source = sources[s] + begin;
      for (std::size_t i = 0; i < m; ++i) total[i] = op.combine(total[i], widen(source[i]));
    }
    const int operands = static_cast<int>(sources.size());
    for (std::size_t i = 0; i < m; ++i) dst[begin + i] = narrow<T>(op.finish(total[i], operands));
  }
}

// dst[i] = f(finish(combine(...)), more[i]...), rounded once. dst may be one of `more`.
template <class T, class Op, class F, class... S>
void reduce_map(T* dst, std::span<const T* const> sources, std::size_t n, Op op, F f,
                const S*... more) {
  const int operands = static_cast<int>(sources.size());
  for (std::size_t i = 0; i < n; ++i) {
    Accumulator<T> total = widen(sources[0][i]);
    for (std::size_t s = 1; s < sources.size(); ++s) {
      total = op.combine(total, widen(sources[s][i]));
    }
    dst[i] = narrow<T>(f(op.finish(total, operands), widen(more[i])...));
  }
}

// dst[i] = f(sources[i]...).
template <class T, class F, class... S>
void transform(T* dst, std::size_t n, F f, const S*... sources) {
  for (std::size_t i = 0; i < n; ++i) dst[i] = narrow<T>(f(widen(sources[i])...));
}

// The fixed order of Block::sum and Block::max: virtual lane l of 1024 takes elements 8l..8l+7,
// then 8(l+1024).., ascending; then lanes are folded l += l + 512, 256, ..., 1. Lanes that got no
// element do not take part.
template <class T, class F, class Fold>
Accumulator<T> fold(const T* source, std::size_t n, F f, Fold combine) {
  using A = Accumulator<T>;
  constexpr std::size_t lanes = 1024;
  constexpr std::size_t run = 8;
  std::array<A, lanes> total{};
  std::array<bool, lanes> any{};
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t lane = (i / run) % lanes;
    const A value = f(widen(source[i]));
    total[lane] = any[lane] ? combine(total[lane], value) : value;
    any[lane] = true;
  }
  for (std::size_t half = lanes / 2; half > 0; half /= 2) {
    for (std::size_t lane = 0; lane < half; ++lane) {
      if (!any[lane + half]) continue;
      total[lane] = any[lane] ? combine(total[lane], total[lane + half]) : total[lane + half];
      any[lane] = true;
    }
  }
  return total[0];
}

// Block::tally: counts[k] += how many of keys[0, n) are k, for k in 0..bins-1. Whether all others
// are -1.
template <class K>
bool tally(std::uint32_t* counts, std::size_t bins, const K* keys, std::size_t n) {
  bool sound = true;
  for (std::size_t i = 0; i < n; ++i) {
    if (keys[i] >= 0 && static_cast<std::size_t>(keys[i]) < bins) {
      ++counts[keys[i]];
    } else {
      sound = sound && keys[i] == K(-1);
    }
  }
  return sound;
}
// ... and what each key found.
template <class K, class P>
void tally(std::uint32_t* counts, std::size_t bins, const K* keys, std::size_t n, P* places) {
  for (std::size_t i = 0; i < n; ++i) {
    if (keys[i] < 0 || static_cast<std::size_t>(keys[i]) >= bins) continue;
    places[i] = static_cast<P>(counts[keys[i]]++);
  }
}

// Block::scan: dst[i] = f(src[0]) + ... + f(src[i - 1]); returns the sum of all. dst may be src.
template <class D, class S, class F>
D scan(D* dst, const S* src, std::size_t n, F f) {
  D total = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const D value = static_cast<D>(f(src[i]));
    dst[i] = total;
    total = static_cast<D>(total + value);
  }
  return total;
}

// Block::weighted_sum: dst[i] = fma(weights[j], sources[j][i], ...) over j in order, from 0.
template <class T>
void weighted_sum(T* dst, std::span<const T* const> sources, std::span<const float> weights,
                  std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    Accumulator<T> total = 0;
    for (std::size_t j = 0; j < sources.size(); ++j) {
      total = std::fma(static_cast<Accumulator<T>>(weights[j]), widen(sources[j][i]), total);
    }
    dst[i] = narrow<T>(total);
  }
}

}  // namespace sym::host
