// run_all_to_all_v: one point of all_to_all_v in any world: fill, run, verify, time.
#pragma once

#include <numeric>
#include <string>
#include <vector>

#include "core/moe/all_to_all_v.hpp"
#include "experiments/sym/exchange_data.hpp"
#include "experiments/sym/program.hpp"
#include "experiments/sym/timing.hpp"

namespace sym::command {

template <World W, class T>
class AllToAllVRun {
 public:
  AllToAllVRun(W& world, const Point& point) : world_(world), point_(point) {}

  PointResult run() {
    plan();
    in_ = world_.template allocate<T>(std::max<std::size_t>(1, most_sent_) * row());
    out_ = world_.template allocate<T>(capacity_ * row());
    splits_ = world_.template allocate_control<std::uint32_t>(pes());
    AllToAllVChannel<W> channel = all_to_all_v_channel(
        world_, AllToAllVRequest{row(), capacity_, point_.blocks, point_.threads});
    report_refusal(world_, point_, result_, [&] { verify_and_time(channel); });
    world_.free(in_);
    world_.free(out_);
    world_.free(splits_);
    return result_;
  }

 private:
  std::size_t pes() const { return static_cast<std::size_t>(point_.pes); }
  std::size_t row() const { return point_.moe.hidden; }
  int iterations() const { return std::max(1, point_.iterations); }

  // Sizes of the windows, and what the row says of the timed exchange, which is the first.
  void plan() {
    std::size_t most_received = 0;
    std::size_t most_bytes = 0;
    for (int iteration = 0; iteration < iterations(); ++iteration) {
      std::vector<std::size_t> received(pes());
      for (int from = 0; from < point_.pes; ++from) {
        const std::vector<std::uint32_t> splits = splits_of(point_, iteration, from);
        const std::size_t sum = std::accumulate(splits.begin(), splits.end(), std::size_t{0});
        most_sent_ = std::max(most_sent_, sum);
        for (std::size_t to = 0; to < pes(); ++to) received[to] += splits[to];
        if (iteration == 0) most_bytes = std::max(most_bytes, sum * row() * sizeof(T));
      }
      most_received = std::max(most_received, *std::max_element(received.begin(), received.end()));
    }
    capacity_ =
        point_.moe.capacity != 0 ? point_.moe.capacity : std::max<std::size_t>(1, most_received);
    result_.bytes = most_bytes;
    result_.count = most_bytes / sizeof(T);
    Exchanged exchanged(point_, world_.pe());
    const std::vector<std::uint32_t> splits = splits_of(point_, 0, world_.pe());
    const auto bytes_of = [&](std::uint32_t rows) {
      return static_cast<double>(rows * row() * sizeof(T));
    };
    for (int pe = 0; pe < point_.pes; ++pe) {
      exchanged.sent(pe, bytes_of(splits[static_cast<std::size_t>(pe)]));
      exchanged.received(pe,
                         bytes_of(splits_of(point_, 0, pe)[static_cast<std::size_t>(world_.pe())]));
    }
    exchanged.report(result_.measures);
  }

  void verify_and_time(AllToAllVChannel<W>& channel) {
    const auto call = [&] { all_to_all_v(channel, in_, splits_, out_); };
    GraphId graph;  // one for all but the first iteration: counts are data
    for (int iteration = 0; iteration < point_.iterations; ++iteration) {
      prepare(iteration);
      world_.barrier();  // inputs of every PE are written before any kernel of the iteration
      const double begin_us = point_.time_verified ? world_.mark_us() : 0;
      if (point_.skip_pe == world_.pe() && iteration == 0) {
        // --inject skip
      } else if (point_.graph && iteration > 0) {
        world_.replay(graph);
      } else {
        call();
      }
      if (point_.time_verified) result_.time_us = world_.mark_us() - begin_us;
      world_.synchronize();
      verify(channel.tables, iteration);
      world_.barrier();  // and read before any is written again
      if (point_.graph && iteration == 0 && point_.iterations > 1) {
        world_.begin_capture();
        call();
        graph = world_.end_capture();
      }
    }
    if (point_.timed == 0) return;
    prepare(0);
    world_.barrier();
    result_.time_us = time_us(world_, point_, call);
  }

  void prepare(int iteration) {
    const std::vector<std::uint32_t> splits = splits_of(point_, iteration, world_.pe());
    world_.write(splits_, splits.data(), splits.size());
    if (!world_.moves_data()) return;
    const std::size_t rows = std::accumulate(splits.begin(), splits.end(), std::size_t{0});
    const std::vector<T> pattern = row_pattern<T>(point_, iteration, world_.pe());
    RowWindow<W, T>(world_, in_, row()).write(0, rows, [&](std::size_t r, T* place) {
      fill(place, row(), pattern, row_shift(r));
    });
    RowWindow<W, T>(world_, out_, row()).spoil(0, capacity_);
  }

  // Counts and offsets, each row from each rank in its order, and nothing behind them.
  void verify(const AllToAllVTables& tables, int iteration) {
    Mismatches mismatches(result_, world_.pe());
    const std::size_t self = static_cast<std::size_t>(world_.pe());
    std::vector<std::uint32_t> counts, offsets{0}, firsts;  // firsts: at the source
    for (int from = 0; from < point_.pes; ++from) {
      const std::vector<std::uint32_t> splits = splits_of(point_, iteration, from);
      counts.push_back(splits[self]);
      offsets.push_back(offsets.back() + splits[self]);
      firsts.push_back(std::accumulate(splits.begin(), splits.begin() + world_.pe(), 0U));
    }
    std::vector<std::uint32_t> got(pes() + 1);
    world_.read(got.data(), tables.counts, pes());
    mismatches.compare("counts", got.data(), counts.data(), pes());
    world_.read(got.data(), tables.offsets, pes() + 1);
    mismatches.compare("offsets", got.data(), offsets.data(), pes() + 1);
    if (!world_.moves_data()) return;
    Hash hash;
    std::size_t from = 0;
    std::vector<T> pattern = row_pattern<T>(point_, iteration, 0);
    std::vector<T> wanted(row());
    RowWindow<W, T>(world_, out_, row()).read(0, capacity_, [&](std::size_t r, const T* place) {
      if (r >= offsets.back())
        return mismatches.untouched_row("row " + std::to_string(r), place, row());
      while (r >= offsets[from + 1])
        pattern = row_pattern<T>(point_, iteration, static_cast<int>(++from));
      fill(wanted.data(), row(), pattern, row_shift(firsts[from] + r - offsets[from]));
      mismatches.compare("row " + std::to_string(r), place, wanted.data(), row());
      hash.add(place, row() * sizeof(T));
    });
    result_.hash = hash.value();
  }

  W& world_;
  const Point point_;
  Window<T> in_, out_;
  Window<std::uint32_t> splits_;
  std::size_t most_sent_ = 0, capacity_ = 1;
  PointResult result_;
};

template <World W, class T>
PointResult run_all_to_all_v(W& world, const Point& point) {
  return AllToAllVRun<W, T>(world, point).run();
}

}  // namespace sym::command
