// Calibration run: the times of `sym calibrate`'s tests, in any world that has time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "core/world.hpp"
#include "experiments/sym/calibrate_kernels.hpp"
#include "experiments/sym/timing.hpp"
#include "models/calibrate.hpp"

namespace sym::command {

template <World W>
class CalibrationRun {
 public:
  // [collective] `tests` are the same on every PE.
  CalibrationRun(W& world, const std::vector<models::Sample>& tests) : world_(world) {
    std::size_t most_bytes = granule<float> * sizeof(float), most_packets = most_bytes;
    int most_blocks = 1;
    for (const models::Sample& test : tests) {
      most_bytes = std::max(most_bytes, test.bytes);
      most_blocks = std::max(most_blocks, test.blocks);
      if (test.probe == models::Probe::exchange) most_packets = std::max(most_packets, test.bytes);
    }
    to_ = world.template allocate<float>(most_bytes / sizeof(float));
    from_ = world.template allocate<float>(most_bytes / sizeof(float));
    chain_ = world.template allocate_control<std::uint32_t>(chain_length);
    group_ = Group{world.channel({most_blocks}), world.team()};
    exchange_ = Group{world.channel({1, most_packets}), world.team()};
    if (world.n_pes() > 1) posts_ = world.posts(1);
    write_chain();
    world.barrier();
  }

  // Microseconds of one launch of the test, on this PE. Collective.
  double time_us(const models::Sample& test) {
    using models::Probe;
    const std::size_t n = test.bytes / sizeof(float);
    switch (test.probe) {
      case Probe::launch:
        return of_launches(test, EmptyKernel{}, few_threads);
      case Probe::sync:
        return of_launches(test, SyncKernel{test.rounds});
      case Probe::load:
        return of_launches(test, LoadKernel{chain_, test.rounds}, few_threads);
      case Probe::packets:
        return of_launches(test, ExchangeKernel{exchange_, to_, from_, n, test.rounds},
                           few_threads);
      case Probe::exchange:
        return of_launches(test, ExchangeKernel{exchange_, to_, from_, n, test.rounds});
      case Probe::meet:
      case Probe::meet_early:
        return of_launches(test, meeting<Between::nothing>(test));
      case Probe::meet_local:
        return of_launches(test, meeting<Between::local>(test));
      case Probe::meet_put:
        return of_launches(test, meeting<Between::put>(test));
      case Probe::meet_reduce:
        return of_launches(test, meeting<Between::reduce>(test));
      case Probe::slots:
        return of_launches(test, SlotsKernel{group_.team, to_, from_, n, test.rounds});
      case Probe::put_one:
      case Probe::put_both:
        return of_moves<Move::put>(test, test.probe == Probe::put_both);
      case Probe::get_one:
        return of_moves<Move::get>(test, false);
      case Probe::reduce_one:
      case Probe::reduce_both:
        return of_moves<Move::reduce>(test, test.probe == Probe::reduce_both);
      case Probe::local_copy:
        return of_moves<Move::local>(test, false);
      case Probe::copy_one:
      case Probe::copy_both:
        return of_copies(test);
      case Probe::launch_copy:
        return of_turns(test);
      case Probe::copy_flag:
        return of_flags(test);
    }
    return 0;
  }

 private:
  static constexpr int few_threads = 128;        // small messages are sent by so many lanes
  static constexpr int threads = 512;            // and large ones by these
  static constexpr std::size_t line_words = 32;  // of a cache line
  // Lines of the chain: more than loads of a launch, so that none finds its line in a block's
  // cache.
  static constexpr std::size_t chain_lines = 512, chain_length = chain_lines * line_words;
  static constexpr bool has_graph_time = requires(W & world) { world.time_graph_us(GraphId{}, 1); };

  // From line to line in steps of an odd number of them, which comes to all.
  void write_chain() {
    constexpr std::size_t stride = 97;
    std::vector<std::uint32_t> next(chain_length);
    for (std::size_t line = 0; line < chain_lines; ++line)
      next[line * line_words] =
          static_cast<std::uint32_t>((line + stride) % chain_lines * line_words);
    world_.write(chain_, next.data(), next.size());
  }

  // As many at a time as make some milliseconds on a GPU; where nothing disturbs, a few.
  template <class F>
  double timed(const models::Sample& test, F enqueue) {
    const bool copies = test.probe >= models::Probe::copy_one;
    const double gbps = copies ? 300.0 : std::min(20.0 * test.blocks, 300.0);
    const double guess_us = 3.0 + test.rounds + static_cast<double>(test.bytes) / (gbps * 1e3);
    Point point;
    point.graph = has_graph_time;
    point.timed = has_graph_time ? std::clamp(static_cast<int>(2000 / guess_us), 1, 40) : 4;
    point.replays = std::clamp(static_cast<int>(4000 / (guess_us * point.timed)), 2, 10);
    point.repetitions = 1;  // where there are no graphs
    return command::time_us(world_, point, enqueue);
  }
  template <class Kernel>
  double of_launches(const models::Sample& test, const Kernel& kernel, int lanes = threads) {
    LaunchConfig config;
    config.name = "calibrate";
    config.blocks = test.blocks;
    config.threads = lanes;
    config.early = test.probe == models::Probe::meet_early;
    return timed(test, [&] { world_.launch(config, kernel); });
  }
  template <Between between>
  MeetKernel<between> meeting(const models::Sample& test) const {
    return {group_, to_, from_, test.bytes / sizeof(float), test.rounds};
  }
  template <Move move>
  double of_moves(const models::Sample& test, bool both) {
    const std::size_t n = test.bytes / sizeof(float);
    return of_launches(test, MoveKernel<move>{group_, to_, from_, n, both});
  }

  LaunchConfig empty_launch() const { return {.name = "calibrate", .threads = few_threads}; }
  // Those of PE 0 have nobody to meet; the other's line is not to be empty.
  double of_copies(const models::Sample& test) {
    const std::size_t n = test.bytes / sizeof(float);
    const bool copies = test.probe == models::Probe::copy_both || world_.pe() == 0;
    return timed(test, [&] {
      if (copies) {
        world_.queue(0).put(row_of(to_, 0, n), row_of(from_, 0, n), 1 - world_.pe());
      } else {
        world_.launch(empty_launch(), EmptyKernel{});
      }
    });
  }
  double of_turns(const models::Sample& test) {
    const std::size_t n = test.bytes / sizeof(float);
    return timed(test, [&] {
      world_.launch(empty_launch(), EmptyKernel{});
      if (world_.pe() != 0) return;
      auto& main = world_.queue(0);
      auto& side = world_.queue(1);
      side.after(main.record());
      side.put(row_of(to_, 0, n), row_of(from_, 0, n), 1);
      main.after(side.record());
    });
  }

  double of_flags(const models::Sample& test) {
    const std::size_t n = test.bytes / sizeof(float);
    const int peer = 1 - world_.pe();
    return timed(test, [&] {
      world_.launch(empty_launch(), EmptyKernel{});
      auto& main = world_.queue(0);
      auto& side = world_.queue(1);
      side.after(main.record());
      side.put(row_of(to_, 0, n), row_of(from_, 0, n), peer);
      side.post(posts_, 0, peer);
      main.take(posts_, 0, peer);
      main.after(side.record());
    });
  }

  W& world_;
  Posts posts_;
  Window<float> to_, from_;
  Window<std::uint32_t> chain_;
  Group group_, exchange_;
};

// Microseconds of each test on this PE, in their order. Collective. `progress` is called with how
// many there have been.
template <World W>
std::vector<double> calibration_times(W& world, const std::vector<models::Sample>& tests,
                                      const std::function<void(std::size_t)>& progress) {
  CalibrationRun<W> run(world, tests);
  std::vector<double> times;
  for (const models::Sample& test : tests) {
    times.push_back(run.time_us(test));
    progress(times.size());
  }
  return times;
}

}  // namespace sym::command
