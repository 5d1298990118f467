// all_reduce_rms_norm, fused and not, against what it promises bit for bit.
#pragma once

#include <cmath>

#include "experiments/sym/norm_kernels.hpp"
#include "tests/conformance/cases_compute.hpp"
#include "tests/conformance/cases_packets.hpp"

namespace sym::conformance {

using command::AllReduceNormKernel;
using command::NormKernel;
using command::NormVariant;

struct NormShapeOf {
  std::size_t rows, hidden;
  int blocks;
};

// What all PEs come with: `in` of each, and what is equal everywhere.
template <class T>
struct NormInputs {
  std::vector<std::vector<T>> in;
  std::vector<T> residual, bias, weight;

  NormInputs(int pes, const NormShapeOf& shape)
      : residual(rough<T>(101, shape.rows * shape.hidden)),
        bias(rough<T>(102, shape.hidden)),
        weight(rough<T>(103, shape.hidden)) {
    for (int pe = 0; pe < pes; ++pe) in.push_back(rough<T>(pe, shape.rows * shape.hidden));
  }
};

template <class T>
struct NormResult {
  std::vector<T> x, out;
};

// The formula in the header, once more. `rounds_sum`: as the unfused pair does.
template <class T, bool adds_residual>
NormResult<T> normalised(const NormInputs<T>& inputs, const NormShapeOf& shape, bool rounds_sum) {
  using A = Accumulator<T>;
  NormResult<T> all{std::vector<T>(shape.rows * shape.hidden), {}};
  all.out.resize(all.x.size());
  for (std::size_t row = 0; row < shape.rows; ++row) {
    std::vector<A> squares(shape.hidden);
    for (std::size_t i = 0; i < shape.hidden; ++i) {
      const std::size_t k = row * shape.hidden + i;
      A total = widen(inputs.in[0][k]);
      for (std::size_t pe = 1; pe < inputs.in.size(); ++pe) total = total + widen(inputs.in[pe][k]);
      if (rounds_sum) total = widen(narrow<T>(total));
      if (adds_residual) total = total + widen(inputs.residual[k]);
      all.x[k] = narrow<T>(total + widen(inputs.bias[i]));
      squares[i] = widen(all.x[k]) * widen(all.x[k]);
    }
    const A sum = folded(squares, [](A a, A b) { return a + b; });
    const A n = static_cast<A>(shape.hidden);
    const A scale = std::sqrt(n / (sum + n * A{1e-6F}));
    for (std::size_t i = 0; i < shape.hidden; ++i) {
      const std::size_t k = row * shape.hidden + i;
      all.out[k] = narrow<T>(widen(all.x[k]) * scale * widen(inputs.weight[i]));
    }
  }
  return all;
}

// M: Window<T>, or Local<T> for what need not be symmetric.
template <class M, bool adds_residual, World W>
class Norms {
 public:
  using T = typename M::value_type;
  static constexpr bool symmetric = is_window<M>;

  Norms(W& world, Errors& errors, const NormShapeOf& shape)
      : world_(world),
        errors_(errors),
        shape_(shape),
        inputs_(world.n_pes(), shape),
        group_{world.channel({shape.blocks, shape.hidden * sizeof(T)}), world.team()} {
    const std::size_t n = shape.rows * shape.hidden;
    norm_.rows = shape.rows;
    norm_.hidden = shape.hidden;
    for (M* one : {&norm_.in, &norm_.out, &norm_.residual}) *one = memory(n);
    for (M* one : {&norm_.bias, &norm_.weight}) *one = memory(shape.hidden);
    write_all(world, norm_.bias, inputs_.bias);
    write_all(world, norm_.weight, inputs_.weight);
  }

  void one_shot(bool in_place) {
    auto norm = norm_;
    if (in_place) norm.out = norm.in;
    fill(norm);
    world_.launch(config(),
                  AllReduceNormKernel<NormVariant::one_shot, M, adds_residual>{group_, norm});
    expect(in_place ? "one_shot in place" : "one_shot", norm, false);
  }
  void two_shot() {
    if constexpr (symmetric) {
      fill(norm_);
      world_.launch(config(),
                    AllReduceNormKernel<NormVariant::two_shot, M, adds_residual>{group_, norm_});
      expect("two_shot", norm_, false);
    }
  }
  void unfused() {
    fill(norm_);
    auto norm = norm_;
    norm.in = norm.out;
    LaunchConfig first = config();
    first.scratch_bytes = 0;
    world_.launch(first,
                  OneShots<M, M, Sum>{group_, norm_.in, norm_.out, shape_.rows * shape_.hidden, 1});
    world_.launch(config(), NormKernel<M, adds_residual>{norm});
    expect("unfused", norm, true);
  }

 private:
  M memory(std::size_t n) {
    if constexpr (symmetric) return world_.template allocate<T>(n);
    if constexpr (!symmetric) return world_.template local<T>(n);
  }
  LaunchConfig config() const {
    LaunchConfig config = launch_of("norm", shape_.blocks, 0, false);
    config.scratch_bytes = norm_.scratch_bytes();
    return config;
  }
  void fill(const RmsNorm<M, adds_residual>& norm) {
    write_all(world_, norm.out, poison<T>(shape_.rows * shape_.hidden));
    write_all(world_, norm_.in, inputs_.in[static_cast<std::size_t>(world_.pe())]);
    write_all(world_, norm_.residual, inputs_.residual);
  }
  void expect(const std::string& name, const RmsNorm<M, adds_residual>& norm, bool rounds_sum) {
    const std::size_t n = shape_.rows * shape_.hidden;
    const auto wanted = normalised<T, adds_residual>(inputs_, shape_, rounds_sum);
    const std::string what = name + ", " + std::to_string(shape_.rows) + " x " +
                             std::to_string(shape_.hidden) + ", blocks " +
                             std::to_string(shape_.blocks);
    expect_equal(errors_, who(world_, what), read_all(world_, norm.out, n), wanted.out);
    expect_equal(errors_, who(world_, what + ", residual"), read_all(world_, norm.residual, n),
                 adds_residual ? wanted.x : inputs_.residual);
  }

  W& world_;
  Errors& errors_;
  NormShapeOf shape_;
  NormInputs<T> inputs_;
  Group group_;
  RmsNorm<M, adds_residual> norm_;
};

template <class M, bool adds_residual, class W>
void norms_of(W& world, Errors& errors, const NormShapeOf& shape) {
  Norms<M, adds_residual, W> norms(world, errors, shape);
  norms.one_shot(false);
  norms.two_shot();
  norms.unfused();
  norms.one_shot(true);
  norms.two_shot();
}

// A row of one element, rows that no access of 16 bytes divides, more blocks than rows, no row.
template <class T, class W>
void norms_small(W& world, Errors& errors) {
  for (const NormShapeOf& shape :
       {NormShapeOf{3, 1, 1}, {5, 24, 2}, {2, 17, 3}, {0, 8, 1}, {4, 8, 1}}) {
    norms_of<Window<T>, true>(world, errors, shape);
    norms_of<Local<T>, false>(world, errors, shape);
  }
}

// Rows of more than a lane's and a virtual lane's elements, and the longest that there is.
template <class T, class W>
void norms_large(W& world, Errors& errors) {
  for (const NormShapeOf& shape : {NormShapeOf{3, 4104, 2}, {2, 8191, 1}, {1, 16384, 1}}) {
    norms_of<Window<T>, true>(world, errors, shape);
    norms_of<Local<T>, false>(world, errors, shape);
  }
}

template <class W>
std::vector<Case<W>> rms_norm_cases() {
  const Effort once = Effort::worst_only;
  return {{"bf16", {1, 2, 3}, norms_small<bf16, W>},
          {"f32", {5}, norms_small<float, W>, once},
          {"bf16_large", {2, 8}, norms_large<bf16, W>, once},
          {"f32_large", {2}, norms_large<float, W>, once}};
}

}  // namespace sym::conformance
