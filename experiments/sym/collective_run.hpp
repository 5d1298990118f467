// CollectiveRun: what every collective's host program does alike: fill, run, verify, time.
#pragma once

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "core/world.hpp"
#include "experiments/sym/launches.hpp"
#include "experiments/sym/pattern.hpp"
#include "experiments/sym/point.hpp"
#include "experiments/sym/timing.hpp"

namespace sym::command {

// Elements that PE 0..P-1 contribute and get, for one collective at one size.
struct Shape {
  std::size_t n = 0;    // what the algorithm calls n
  std::size_t in = 0;   // elements of the input window
  std::size_t out = 0;  // ... and of the output
};

inline Shape shape_of(const Point& point, std::size_t element) {
  if (point.bytes % element != 0) {
    throw UsageError("size " + std::to_string(point.bytes) + " is no multiple of the " +
                     std::to_string(element) + " bytes of " + point.dtype);
  }
  const std::size_t count = point.bytes / element;
  const auto pes = static_cast<std::size_t>(point.pes);
  if (point.algorithm == "all_gather") return Shape{count / pes, count / pes, count / pes * pes};
  if (point.algorithm == "all_to_all")
    return Shape{count / pes, count / pes * pes, count / pes * pes};
  if (point.algorithm == "reduce_scatter")
    return Shape{count / pes, count / pes * pes, count / pes};
  return Shape{count, count, count};
}

// The same operation on every PE has the same tag; see Channel::tagged.
inline std::uint16_t tag_of_point(const Point& point, std::size_t n, std::size_t element) {
  const std::string name = point.algorithm + "/" + point.variant + "/" + point.op;
  return operation_tag(hash_bytes(name.data(), name.size()), n, element,
                       static_cast<std::uint64_t>(point.blocks));
}

// A quick build has a GPU's kernels for one operator: its tests have them for the others.
#if defined(SYM_QUICK_CUDA) && defined(__CUDACC__)
inline constexpr bool sums_alone = true;
#else
inline constexpr bool sums_alone = false;
#endif

// Calls by_op.template operator()<Op>() with the operator of that name.
template <class F>
void with_op(const std::string& op, F by_op) {
  if (op == "sum") by_op.template operator()<Sum>();
  if constexpr (!sums_alone) {
    if (op == "prod") by_op.template operator()<Prod>();
    if (op == "max") by_op.template operator()<Max>();
    if (op == "min") by_op.template operator()<Min>();
    if (op == "avg") by_op.template operator()<Avg>();
  } else if (op != "sum") {
    throw UsageError("this build has only sums on GPUs (SYM_QUICK_CUDA)");
  }
}

template <World W, class T>
class CollectiveRun {
 protected:
  // `rounds_once`: floats are combined in rank order and rounded once, so that what random ones
  // give is known.
  CollectiveRun(W& world, const Point& point, bool rounds_once)
      : world_(world),
        point_(point),
        shape_(shape_of(point, sizeof(T))),
        rounds_once_(rounds_once) {}

  // Calls by_op.template operator()<Op>() with the point's operator, between allocation and the
  // end. `work` elements, 0 for a variant that needs none; `packet_bytes` of the channel's inbox.
  template <class F>
  PointResult run_with(std::size_t work, std::size_t packet_bytes, F by_op) {
    in_ = world_.template allocate<T>(shape_.in);
    out_ = world_.template allocate<T>(shape_.out);
    work_ = world_.template allocate<T>(std::max<std::size_t>(work, 1));
    work_elements_ = work;
    channel_ = world_.channel({point_.blocks, packet_bytes});
    result_.count = shape_.n;
    result_.bytes = std::max(shape_.in, shape_.out) * sizeof(T);
    with_op(point_.op, by_op);
    world_.free(in_);
    world_.free(out_);
    world_.free(work_);
    return result_;
  }

  // Of the inbox of a block: what the block sends, up to a limit, beyond which it goes in rounds.
  std::size_t packet_bytes() const {
    constexpr std::size_t most = std::size_t{1} << 16;
    if (point_.variant != "one_shot") return 0;
    const auto blocks = static_cast<std::size_t>(point_.blocks);
    return std::min(most, shape_.n * sizeof(T) / blocks + 32);
  }

  // What this PE comes with: one element less than it should where that is injected.
  std::size_t count() const {
    return shape_.n - (point_.shrink_pe == world_.pe() && shape_.n > 0 ? 1 : 0);
  }
  Group group() const {
    return Group{channel_.tagged(tag_of_point(point_, count(), sizeof(T))), world_.team()};
  }

  template <class Op, class Kernel>
  void verify_and_time(const Kernel& kernel) {
    verify_and_time_calls<Op>([&] { launch(kernel); });
  }
  // call() enqueues one call of the collective, which begins and ends on stream 0.
  template <class Op, class F>
  void verify_and_time_calls(F call) {
    for (int iteration = 0; iteration < point_.iterations; ++iteration) {
      if (world_.moves_data()) prepare<Op>(iteration);
      world_.barrier();  // inputs of every PE are written before any kernel of the iteration
      const double begin_us = point_.time_verified ? world_.mark_us() : 0;
      if (point_.launch_too) point_.launch_too();
      if (point_.hand_over) {
        point_.hand_over(call);
      } else if (!(point_.skip_pe == world_.pe() && iteration == 0)) {
        call();
      }
      if (point_.time_verified) result_.time_us = world_.mark_us() - begin_us;
      world_.synchronize();
      if (world_.moves_data()) verify<Op>(iteration);
      world_.barrier();  // and read before any is written again
    }
    if (point_.timed > 0) result_.time_us = time_us(world_, point_, call);
  }

  W& world_;
  const Point point_;
  const Shape shape_;
  Window<T> in_, out_, work_;

 private:
  template <class Kernel>
  void launch(const Kernel& kernel) {
    LaunchConfig config = launch_config(point_);
    config.stream = point_.stream;
    config.early = point_.flavour.empty();  // nothing else runs here; another library does not ask
    world_.launch(config, kernel);
  }

  template <class Op>
  std::vector<T> pattern_of(int iteration, int pe) const {
    const PatternKey key{point_.seed, iteration, point_.pes};
    return point_.data == "random" ? random_pattern<T>(key, pe) : exact_pattern<T, Op>(key, pe);
  }

  // Inputs of this iteration, and rubbish where the result will be and where work is done. In
  // parts, so that many PEs of one process need little memory beside their windows.
  template <class Op>
  void prepare(int iteration) {
    buffer_.resize(std::max<std::size_t>(
        1, std::min(part_elements, std::max({shape_.in, shape_.out, work_elements_}))));
    std::memset(static_cast<void*>(buffer_.data()), 0xA5, buffer_.size() * sizeof(T));
    for_parts(shape_.out, [&](std::size_t first, std::size_t n) {
      world_.write(out_.at(first), buffer_.data(), n);
    });
    if (work_elements_ > 0) {
      for_parts(work_elements_, [&](std::size_t first, std::size_t n) {
        world_.write(work_.at(first), buffer_.data(), n);
      });
    }
    const std::vector<T> pattern = pattern_of<Op>(iteration, world_.pe());
    for_parts(shape_.in, [&](std::size_t first, std::size_t n) {
      fill(buffer_.data(), n, pattern, first);
      world_.write(in_.at(first), buffer_.data(), n);
    });
  }

  template <class F>
  static void for_parts(std::size_t elements, F f) {
    for (std::size_t first = 0; first < elements; first += part_elements) {
      f(first, std::min(part_elements, elements - first));
    }
  }

  // Which pattern this PE's output must show: element i is patterns[i / row][(i % row + shift) %
  // period].
  struct Wanted {
    std::vector<std::vector<T>> patterns;
    std::size_t row = 1;
    std::size_t shift = 0;
  };

  template <class Op>
  Wanted wanted(int iteration) const {
    Wanted all;
    all.row = std::max<std::size_t>(shape_.n, 1);
    if (point_.algorithm == "broadcast") {
      all.patterns = {pattern_of<Op>(iteration, point_.root)};
      return all;
    }
    for (int pe = 0; pe < point_.pes; ++pe) all.patterns.push_back(pattern_of<Op>(iteration, pe));
    if (point_.algorithm == "all_to_all")
      all.shift = static_cast<std::size_t>(world_.pe()) * shape_.n;
    if (point_.algorithm == "all_gather" || point_.algorithm == "all_to_all") return all;
    all.patterns = {reduced(all.patterns, Op{})};
    if (point_.algorithm == "reduce_scatter")
      all.shift = static_cast<std::size_t>(world_.pe()) * shape_.n;
    return all;
  }

  template <class Op>
  void verify(int iteration) {
    // Rings, and levels, round at each hop: with random floats their result is compared by hash
    // alone.
    const bool narrow_float = std::is_floating_point_v<Accumulator<T>>;
    const bool exact = point_.data == "exact" || rounds_once_ || !narrow_float;
    const Wanted all = exact ? wanted<Op>(iteration) : Wanted{};
    Hash hash;
    for_parts(shape_.out, [&](std::size_t first, std::size_t n) {
      world_.read(buffer_.data(), out_.at(first), n);
      if (exact) compare(all, first, n);
      hash.add(buffer_.data(), n * sizeof(T));
    });
    result_.hash = hash.value();
  }

  // buffer_[0, n) is the output from element `first` on.
  void compare(const Wanted& all, std::size_t first, std::size_t n) {
    for (std::size_t done = 0; done < n;) {
      const std::size_t index = first + done;
      const std::vector<T>& pattern = all.patterns[index / all.row];
      const std::size_t column = index % all.row;
      const std::size_t at = (column + all.shift) % pattern_period;
      const std::size_t run = std::min({pattern_period - at, n - done, all.row - column});
      const T* got = buffer_.data() + done;
      if (std::memcmp(got, pattern.data() + at, run * sizeof(T)) != 0) {
        for (std::size_t i = 0; i < run; ++i) mismatch(index + i, got[i], pattern[at + i]);
      }
      done += run;
    }
  }

  void mismatch(std::size_t index, T got, T wanted) {
    if (std::memcmp(&got, &wanted, sizeof(T)) == 0) return;
    if (result_.wrong++ != 0) return;
    char text[160];
    std::snprintf(text, sizeof(text), "PE %d element %zu is %g, expected %g", world_.pe(), index,
                  static_cast<double>(widen(got)), static_cast<double>(widen(wanted)));
    result_.first_wrong = text;
  }

  static constexpr std::size_t part_elements = std::size_t{1} << 20;
  const bool rounds_once_;
  std::size_t work_elements_ = 0;
  Channel channel_;
  std::vector<T> buffer_;
  PointResult result_;
};

}  // namespace sym::command
