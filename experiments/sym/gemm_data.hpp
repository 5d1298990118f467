// Data of the distributed product, exact in every type: A has at most 128 ones and minus ones in a
// row, B holds -1, 0 and 1, C and the bias small integers, so that no partial sum leaves the 8 bits
// that bf16 has. Any element of D is known without the product.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "core/gemm/partition.hpp"
#include "core/types.hpp"
#include "experiments/sym/pattern.hpp"
#include "experiments/sym/point.hpp"

namespace sym::command {

template <class T>
class GemmData {
 public:
  GemmData(const Point& point, int iteration)
      : point_(point),
        stride_((point.gemm.k + most_terms - 1) / most_terms),
        key_(mix(point.seed * 1000003 + static_cast<std::uint64_t>(iteration))),
        a_(small(1, 0, 2)),
        b_(small(2, 1, 3)),
        c_(small(3, 8, 17)),
        typed_b_(typed(b_)),
        typed_c_(typed(c_)) {
    for (std::size_t i = 0; i < pattern_period; ++i) a_[i] = 2 * a_[i] - 1;
  }

  // Elements [first, first + n) of a row.
  void row_of_a(T* to, std::size_t row, std::size_t first, std::size_t n) const {
    std::fill(to, to + n, T{});
    const std::size_t from = (start(row) + stride_ - first % stride_) % stride_;
    for (std::size_t i = from; i < n; i += stride_) to[i] = typed(a_[at(row, first + i)]);
  }
  void row_of_b(T* to, std::size_t row, std::size_t first, std::size_t n) const {
    fill(to, n, typed_b_, at(row, first));
  }
  void row_of_c(T* to, std::size_t row, std::size_t first, std::size_t n) const {
    fill(to, n, typed_c_, at(row, first));
  }
  std::vector<T> bias() const {
    std::vector<T> values(point_.gemm.n);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = typed(bias_of(i));
    return values;
  }

  // What D must hold.
  double result(std::size_t m, std::size_t n) const {
    int sum = 0;
    for (std::size_t k = start(m); k < point_.gemm.k; k += stride_)
      sum += a_[at(m, k)] * b_[at(n, k)];
    double all = sum;
    if (point_.gemm.beta != 0) all += point_.gemm.beta * c_[at(m, n)];
    return point_.gemm.bias ? all + bias_of(n) : all;
  }

 private:
  static constexpr std::size_t most_terms = 128;

  static std::size_t at(std::size_t row, std::size_t col) {
    return (row * 2741 + col) % pattern_period;
  }
  // Where the ones of a row of A begin.
  std::size_t start(std::size_t row) const { return mix(key_ ^ row) % stride_; }
  int bias_of(std::size_t n) const { return static_cast<int>(mix(key_ ^ (n << 32)) % 17) - 8; }
  static T typed(int value) { return narrow<T>(static_cast<Accumulator<T>>(value)); }
  static std::vector<T> typed(const std::vector<int>& values) {
    std::vector<T> all;
    for (const int value : values) all.push_back(typed(value));
    return all;
  }
  // A period of integers from -below on, `values` of them.
  std::vector<int> small(std::uint64_t what, int below, std::uint64_t values) const {
    std::vector<int> pattern(pattern_period);
    for (std::size_t i = 0; i < pattern_period; ++i)
      pattern[i] = static_cast<int>(mix(key_ ^ (what << 60) ^ i) % values) - below;
    return pattern;
  }

  const Point& point_;
  std::size_t stride_;  // from one of A's ones to the next
  std::uint64_t key_;
  std::vector<int> a_, b_, c_;  // periods of the rows' elements
  std::vector<T> typed_b_, typed_c_;
};

}  // namespace sym::command
