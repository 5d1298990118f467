// run_rms_norm: one point of all_reduce_rms_norm in any world: fill, run, verify, time.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "experiments/sym/collective_kernels.hpp"
#include "experiments/sym/exchange_data.hpp"
#include "experiments/sym/norm_expected.hpp"
#include "experiments/sym/norm_kernels.hpp"
#include "experiments/sym/program.hpp"
#include "experiments/sym/timing.hpp"

namespace sym::command {

template <World W, class T, bool adds_residual>
class RmsNormRun {
 public:
  RmsNormRun(W& world, const Point& point) : world_(world), point_(point) {}

  PointResult run() {
    norm_.rows = rows();
    norm_.hidden = hidden();
    norm_.in = world_.template allocate<T>(elements());
    norm_.out = world_.template allocate<T>(elements());
    norm_.residual = world_.template allocate<T>(adds_residual ? elements() : 1);
    norm_.bias = world_.template allocate<T>(hidden());
    norm_.weight = world_.template allocate<T>(hidden());
    group_ = Group{world_.channel({point_.blocks, packet_bytes()}).tagged(tag()), world_.team()};
    result_.count = rows() * hidden();
    result_.bytes = result_.count * sizeof(T);
    verify_and_time();
    world_.free(norm_.in);
    world_.free(norm_.out);
    world_.free(norm_.residual);
    world_.free(norm_.bias);
    world_.free(norm_.weight);
    return result_;
  }

 private:
  std::size_t rows() const { return point_.moe.tokens; }
  std::size_t hidden() const { return point_.moe.hidden; }
  std::size_t elements() const { return std::max<std::size_t>(1, rows() * hidden()); }
  bool is_unfused() const { return point_.variant == "unfused"; }

  // Of the inbox of a block: a row. The unfused all-reduce goes in rounds of what there is.
  std::size_t packet_bytes() const {
    return point_.variant == "two_shot" ? 0 : hidden() * sizeof(T) + 16;
  }
  std::uint16_t tag() const {
    const std::string name = point_.algorithm + "/" + point_.variant;
    const std::size_t less = point_.shrink_pe == world_.pe() ? 1 : 0;
    return operation_tag(hash_bytes(name.data(), name.size()), rows() * hidden() - less, sizeof(T),
                         static_cast<std::uint64_t>(point_.blocks));
  }

  LaunchConfig config(const char* name) const {
    LaunchConfig config;
    config.name = name;
    config.blocks = point_.blocks;
    config.threads = point_.threads;
    config.early = true;  // nothing else runs on these GPUs
    config.scratch_bytes = norm_.scratch_bytes();
    config.symmetric = false;  // rows one after the other: a fibre for all blocks would add them up
    return config;
  }
  void launch() {
    using Norm = RmsNorm<Window<T>, adds_residual>;
    if (point_.variant == "one_shot") {
      world_.launch(
          config("all_reduce_rms_norm"),
          AllReduceNormKernel<NormVariant::one_shot, Window<T>, adds_residual>{group_, norm_});
    } else if (point_.variant == "two_shot") {
      world_.launch(
          config("all_reduce_rms_norm"),
          AllReduceNormKernel<NormVariant::two_shot, Window<T>, adds_residual>{group_, norm_});
    } else {
      LaunchConfig first = config("all_reduce");
      first.scratch_bytes = 0;
      first.symmetric = true;
      world_.launch(first, AllReduceKernel<Variant::one_shot, T, Sum>{group_, norm_.in, norm_.out,
                                                                      rows() * hidden()});
      Norm behind = norm_;
      behind.in = norm_.out;
      world_.launch(config("rms_norm"), NormKernel<Window<T>, adds_residual>{behind});
    }
  }

  void verify_and_time() {
    for (int iteration = 0; iteration < point_.iterations; ++iteration) {
      if (world_.moves_data()) prepare(iteration);
      world_.barrier();  // inputs of every PE are written before any kernel of the iteration
      const double begin_us = point_.time_verified ? world_.mark_us() : 0;
      if (!(point_.skip_pe == world_.pe() && iteration == 0)) launch();
      if (point_.time_verified) result_.time_us = world_.mark_us() - begin_us;
      world_.synchronize();
      if (world_.moves_data()) verify(iteration);
      world_.barrier();  // and read before any is written again
    }
    if (point_.timed > 0) result_.time_us = time_us(world_, point_, [&] { launch(); });
  }

  void prepare(int iteration) {
    const NormData<T> data(point_, iteration);
    const auto write_rows = [&](Window<T> window, int source) {
      RowWindow<W, T>(world_, window, hidden()).write(0, rows(), [&](std::size_t r, T* place) {
        data.row(source, r, place);
      });
    };
    write_rows(norm_.in, world_.pe());
    if (adds_residual) write_rows(norm_.residual, NormData<T>::residual);
    RowWindow<W, T>(world_, norm_.out, hidden()).spoil(0, rows());
    std::vector<T> row(hidden());
    data.row(NormData<T>::bias, 0, row.data());
    world_.write(norm_.bias, row.data(), hidden());
    data.row(NormData<T>::weight, 0, row.data());
    world_.write(norm_.weight, row.data(), hidden());
  }

  void verify(int iteration) {
    Mismatches mismatches(result_, world_.pe());
    const NormData<T> data(point_, iteration);
    NormExpected<T> expected(data, {point_.pes, adds_residual, is_unfused(), norm_.epsilon});
    Hash hash;
    RowWindow<W, T>(world_, norm_.out, hidden()).read(0, rows(), [&](std::size_t r, const T* got) {
      expected.compute(r);
      mismatches.compare("row " + std::to_string(r), got, expected.out().data(), hidden());
      hash.add(got, hidden() * sizeof(T));
    });
    result_.hash = hash.value();
    if (!adds_residual) return;
    RowWindow<W, T>(world_, norm_.residual, hidden())
        .read(0, rows(), [&](std::size_t r, const T* got) {
          expected.compute(r);
          mismatches.compare("residual row " + std::to_string(r), got, expected.x().data(),
                             hidden());
        });
  }

  W& world_;
  const Point point_;
  RmsNorm<Window<T>, adds_residual> norm_;
  Group group_;
  PointResult result_;
};

template <World W, class T>
PointResult run_rms_norm(W& world, const Point& point) {
  if (point.residual) return RmsNormRun<W, T, true>(world, point).run();
  return RmsNormRun<W, T, false>(world, point).run();
}

}  // namespace sym::command
