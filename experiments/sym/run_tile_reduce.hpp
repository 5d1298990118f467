// run_tile_reduce: one point of tile_reduce in any world: fill, run, verify, time.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "core/collective/tile_list.hpp"
#include "experiments/sym/collective_run.hpp"
#include "experiments/sym/program.hpp"

namespace sym::command {

template <class T, class Op>
struct TileReduceKernel {
  Group group;
  TileList tiles;
  Matrix<T> in, out;
  template <Block B>
  SYM_FN void operator()(B& block) const {
    block.enter(group.channel);
    tile_reduce(block, group, tiles, in, out, Op{});
    block.leave(group.channel);
  }
};

// A matrix cut to tiles of one size, but for those at its edges, dealt to the ranks in turns.
inline std::vector<RootedTile> tiles_in_turns(const TilePoint& shape, int ranks) {
  std::vector<RootedTile> tiles;
  for (std::size_t row = 0; row < shape.rows; row += shape.tile_rows) {
    for (std::size_t col = 0; col < shape.cols; col += shape.tile_cols) {
      const Tile tile{row, col, std::min(shape.tile_rows, shape.rows - row),
                      std::min(shape.tile_cols, shape.cols - col)};
      tiles.push_back({tile, static_cast<int>(tiles.size() % static_cast<std::size_t>(ranks))});
    }
  }
  return tiles;
}

template <World W, class T>
class TileReduceRun {
 public:
  TileReduceRun(W& world, const Point& point)
      : world_(world), point_(point), tiles_(tiles_in_turns(point.tile, point.pes)) {}

  PointResult run() {
    const TilePoint& t = point_.tile;
    const std::size_t elements = std::max<std::size_t>(1, t.rows * t.cols);
    const auto in = world_.template allocate<T>(elements);
    const auto out = world_.template allocate<T>(elements);
    in_ = Matrix<T>{in, t.rows, t.cols, t.cols};
    out_ = Matrix<T>{out, t.rows, t.cols, t.cols};
    list_ = tile_list(world_, {t.rows, t.cols, sizeof(T), point_.pes}, tiles_);
    group_ = Group{world_.channel({point_.blocks}).tagged(tag()), world_.team()};
    result_.count = t.rows * t.cols;
    result_.bytes = result_.count * sizeof(T);
    with_op(point_.op, [this]<class Op>() { verify_and_time<Op>(); });
    free_tile_list(world_, list_);
    world_.free(in);
    world_.free(out);
    return result_;
  }

 private:
  std::uint16_t tag() const {
    const std::string name = point_.algorithm + "/" + point_.op;
    const std::size_t less = point_.shrink_pe == world_.pe() ? 1 : 0;
    return operation_tag(hash_bytes(name.data(), name.size()), tiles_number(tiles_) - less,
                         sizeof(T), static_cast<std::uint64_t>(point_.blocks));
  }

  template <class Op>
  void verify_and_time() {
    const TileReduceKernel<T, Op> kernel{group_, list_, in_, out_};
    const auto launch = [&] {
      LaunchConfig config;
      config.name = "tile_reduce";
      config.blocks = point_.blocks;
      config.threads = point_.threads;
      config.early = true;       // nothing else runs on these GPUs
      config.symmetric = false;  // blocks take turns at the tiles
      world_.launch(config, kernel);
    };
    for (int iteration = 0; iteration < point_.iterations; ++iteration) {
      if (world_.moves_data()) prepare<Op>(iteration);
      world_.barrier();  // inputs of every PE are written before any kernel of the iteration
      const double begin_us = point_.time_verified ? world_.mark_us() : 0;
      if (!(point_.skip_pe == world_.pe() && iteration == 0)) launch();
      if (point_.time_verified) result_.time_us = world_.mark_us() - begin_us;
      world_.synchronize();
      if (world_.moves_data()) verify<Op>(iteration);
      world_.barrier();  // and read before any is written again
    }
    if (point_.timed > 0) result_.time_us = time_us(world_, point_, launch);
  }

  template <class Op>
  std::vector<T> pattern_of(int iteration, int pe) const {
    const PatternKey key{point_.seed, iteration, point_.pes};
    return point_.data == "random" ? random_pattern<T>(key, pe) : exact_pattern<T, Op>(key, pe);
  }

  template <class Op>
  void prepare(int iteration) {
    if (in_.cols == 0) return;
    const std::vector<T> pattern = pattern_of<Op>(iteration, world_.pe());
    RowWindow<W, T>(world_, in_.data, in_.cols).write(0, in_.rows, [&](std::size_t r, T* place) {
      fill(place, in_.cols, pattern, r * in_.cols);
    });
    RowWindow<W, T>(world_, out_.data, out_.cols).spoil(0, out_.rows);
  }

  // Rows of the whole matrix: of this PE's tiles the sums, of all else the rubbish.
  template <class Op>
  void verify(int iteration) {
    if (in_.cols == 0) return;
    std::vector<std::vector<T>> patterns;
    for (int pe = 0; pe < point_.pes; ++pe) patterns.push_back(pattern_of<Op>(iteration, pe));
    const std::vector<T> sums = reduced(patterns, Op{});
    Mismatches mismatches(result_, world_.pe());
    Hash hash;
    std::vector<T> wanted(out_.cols);
    const std::size_t across =
        (point_.tile.cols + point_.tile.tile_cols - 1) / point_.tile.tile_cols;
    RowWindow<W, T>(world_, out_.data, out_.cols)
        .read(0, out_.rows, [&](std::size_t r, const T* got) {
          fill(wanted.data(), out_.cols, sums, r * out_.cols);
          for (std::size_t k = 0; k < across; ++k) {
            const RootedTile& one = tiles_[r / point_.tile.tile_rows * across + k];
            if (one.root == world_.pe()) continue;
            std::memset(static_cast<void*>(wanted.data() + one.tile.col), untouched,
                        one.tile.cols * sizeof(T));
          }
          mismatches.compare("row " + std::to_string(r), got, wanted.data(), out_.cols);
          hash.add(got, out_.cols * sizeof(T));
        });
    result_.hash = hash.value();
  }

  W& world_;
  const Point point_;
  const std::vector<RootedTile> tiles_;
  Matrix<T> in_, out_;
  TileList list_;
  Group group_;
  PointResult result_;
};

template <World W, class T>
PointResult run_tile_reduce(W& world, const Point& point) {
  return TileReduceRun<W, T>(world, point).run();
}

}  // namespace sym::command
