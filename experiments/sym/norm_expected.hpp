// What all_reduce_rms_norm must give: data for it, and the rows that come out, by the stated order
// of its sums, so that every variant is compared bit for bit.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "backends/host/elements.hpp"
#include "core/ops.hpp"
#include "core/types.hpp"
#include "experiments/sym/pattern.hpp"
#include "experiments/sym/point.hpp"

namespace sym::command {

// Rows of each source: PEs 0..P-1, and those below.
template <class T>
class NormData {
 public:
  static constexpr int residual = -1;
  static constexpr int bias = -2;
  static constexpr int weight = -3;

  NormData(const Point& point, int iteration)
      : hidden_(point.moe.hidden),
        random_(point.data == "random"),
        pes_(static_cast<std::uint64_t>(point.pes)),
        key_(mix(point.seed * 1000003 + static_cast<std::uint64_t>(iteration))) {}

  std::size_t hidden() const { return hidden_; }

  void row(int source, std::size_t r, T* to) const {
    using A = Accumulator<T>;
    const std::uint64_t key = mix(key_ ^ (static_cast<std::uint64_t>(source + 8) << 40) ^ r);
    for (std::size_t i = 0; i < hidden_; ++i) {
      const std::uint64_t h = mix(key ^ i);
      const auto fraction = static_cast<A>(static_cast<double>(h >> 11) * 0x1p-52 - 1.0);
      to[i] = narrow<T>(random_ ? fraction : static_cast<A>(whole(source, h)));
    }
  }

 private:
  // Integers of which every sum over PEs, residual and bias is exact in bf16.
  int whole(int source, std::uint64_t h) const {
    const std::uint64_t range = source == weight ? 4 : source < 0 ? 32 : pes_ < 64 ? 128 / pes_ : 2;
    return static_cast<int>(h % range) + (source == weight ? 1 : 0);
  }

  std::size_t hidden_;
  bool random_;
  std::uint64_t pes_, key_;
};

struct NormShape {
  int pes = 1;
  bool adds_residual = false;
  bool rounds_sum = false;  // to T, before anything is added: what the unfused pair does
  float epsilon = 0;
};

template <class T>
class NormExpected {
 public:
  NormExpected(const NormData<T>& data, NormShape shape)
      : data_(data), shape_(shape), part_(data.hidden()), bias_(part_), weight_(part_) {
    data.row(NormData<T>::bias, 0, bias_.data());
    data.row(NormData<T>::weight, 0, weight_.data());
  }

  const std::vector<T>& x() const { return x_; }
  const std::vector<T>& out() const { return out_; }

  void compute(std::size_t r) {
    using A = Accumulator<T>;
    const std::size_t n = data_.hidden();
    std::vector<A> total(n);
    for (int pe = 0; pe < shape_.pes; ++pe) {
      data_.row(pe, r, part_.data());
      for (std::size_t i = 0; i < n; ++i)
        total[i] = pe == 0 ? widen(part_[i]) : total[i] + widen(part_[i]);
    }
    if (shape_.adds_residual) data_.row(NormData<T>::residual, r, part_.data());
    x_.resize(n);
    out_.resize(n);
    for (std::size_t i = 0; i < n; ++i) {
      A value = shape_.rounds_sum ? widen(narrow<T>(total[i])) : total[i];
      if (shape_.adds_residual) value = value + widen(part_[i]);
      x_[i] = narrow<T>(value + widen(bias_[i]));
    }
    const A squares = host::fold(
        x_.data(), n, [](A a) { return a * a; }, [](A a, A b) { return a + b; });
    const A length = static_cast<A>(n);
    const A scale = std::sqrt(length / (squares + length * static_cast<A>(shape_.epsilon)));
    for (std::size_t i = 0; i < n; ++i) {
      out_[i] = narrow<T>(widen(x_[i]) * scale * widen(weight_[i]));
    }
  }

 private:
  const NormData<T>& data_;
  NormShape shape_;
  std::vector<T> part_, bias_, weight_, x_, out_;
};

}  // namespace sym::command
