// The host program of one PE, for any World: allocate, fill, launch, verify, time. What `sym run`
// calls once for each size.
#pragma once

#include <cstdio>
#include <cstring>
#include <vector>

#include "core/world.hpp"
#include "experiments/sym/dtypes.hpp"
#include "experiments/sym/pattern.hpp"
#include "experiments/sym/point.hpp"
#include "experiments/tutorial/all_to_all.hpp"

namespace tutorial {

using sym::command::Point;
using sym::command::PointResult;

template <sym::World W, class T>
class Program {
 public:
  // point.bytes is the size of the whole input of one PE, cut to a multiple of the PE count.
  Program(W& world, const Point& point)
      : world_(world),
        point_(point),
        n_(point.bytes / sizeof(T) / static_cast<std::size_t>(point.pes)),
        total_(n_ * static_cast<std::size_t>(point.pes)) {}

  PointResult run() {
    in_ = world_.template allocate<T>(total_);
    out_ = world_.template allocate<T>(total_);
    group_ = sym::Group{world_.channel({point_.blocks}).tagged(tag()), world_.team()};
    result_.count = n_;
    result_.bytes = total_ * sizeof(T);
    for (int iteration = 0; iteration < point_.iterations; ++iteration) {
      if (world_.moves_data()) prepare(iteration);
      world_.barrier();  // no kernel of this iteration runs before every PE has written its input
      const double begin_us = point_.time_verified ? world_.mark_us() : 0;
      if (!(point_.skip_pe == world_.pe() && iteration == 0)) launch();
      if (point_.time_verified) result_.time_us = world_.mark_us() - begin_us;
      world_.synchronize();
      if (world_.moves_data()) verify(iteration);
      world_.barrier();  // no kernel of the next iteration runs before every PE has read its output
    }
    if (point_.timed > 0) time();
    world_.free(in_);
    world_.free(out_);
    return result_;
  }

 private:
  // Every PE must come with the same tag, or the first barrier reports a mismatch. --inject
  // count=PE lets one PE come with another n: here only the tag tells.
  std::uint16_t tag() const {
    const std::size_t n = n_ - (point_.shrink_pe == world_.pe() && n_ > 0 ? 1 : 0);
    const std::uint64_t name = 0xa2a;
    return sym::operation_tag(name, n, sizeof(T), static_cast<std::uint64_t>(point_.blocks));
  }

  void launch() {
    sym::LaunchConfig config;
    config.name = "all_to_all_direct";
    config.blocks = point_.blocks;
    config.threads = point_.threads;
    world_.launch(config, AllToAll<T>{group_, in_, out_, n_});
  }

  std::vector<T> pattern(int iteration, int pe) const {
    const sym::command::PatternKey key{point_.seed, iteration, point_.pes};
    return point_.data == "random" ? sym::command::random_pattern<T>(key, pe)
                                   : sym::command::exact_pattern<T, sym::Sum>(key, pe);
  }

  // The input of this iteration, and rubbish where the result will be.
  void prepare(int iteration) {
    std::vector<T> values(total_);
    if (total_ > 0) std::memset(static_cast<void*>(values.data()), 0xA5, total_ * sizeof(T));
    world_.write(out_, values.data(), total_);
    sym::command::fill(values.data(), total_, pattern(iteration, world_.pe()), 0);
    world_.write(in_, values.data(), total_);
  }

  // The launch has ended and no PE has been met since: all that the kernel's contract promises must
  // hold now, on this PE alone. So the output is read and the input spoiled before the next
  // barrier.
  void verify(int iteration) {
    std::vector<T> got(total_);
    world_.write(in_, got.data(), total_);
    world_.read(got.data(), out_, total_);
    result_.hash = sym::command::hash_bytes(got.data(), total_ * sizeof(T));
    std::vector<T> wanted(n_);
    for (int pe = 0; pe < point_.pes;
         ++pe) {  // row `pe` is the part of PE `pe`'s input that is for us
      sym::command::fill(wanted.data(), n_, pattern(iteration, pe),
                         static_cast<std::size_t>(world_.pe()) * n_);
      const T* row = got.data() + static_cast<std::size_t>(pe) * n_;
      for (std::size_t i = 0; i < n_; ++i) {
        if (std::memcmp(row + i, wanted.data() + i, sizeof(T)) != 0) mismatch(pe, i);
      }
    }
  }

  void mismatch(int from, std::size_t i) {
    if (result_.wrong++ != 0) return;
    char text[120];
    std::snprintf(text, sizeof(text), "PE %d: element %zu of the row from PE %d", world_.pe(), i,
                  from);
    result_.first_wrong = text;
  }

  // One batch to warm up, one that counts. (`sym` itself takes the median of several, and graphs.)
  void time() {
    for (int batch = 0; batch < 2; ++batch) {
      world_.barrier();
      const double begin_us = world_.mark_us();
      for (int i = 0; i < point_.timed; ++i) launch();
      result_.time_us = (world_.mark_us() - begin_us) / point_.timed;
    }
    world_.synchronize();
  }

  W& world_;
  const Point point_;
  const std::size_t n_, total_;
  sym::Window<T> in_, out_;
  sym::Group group_;
  PointResult result_;
};

template <sym::World W>
PointResult run_all_to_all(W& world, const Point& point) {
  return sym::command::with_dtype(point.dtype,
                                  [&]<class T>() { return Program<W, T>(world, point).run(); });
}

}  // namespace tutorial
