// tile_reduce: tiles that are no contiguous memory, each to a root of its own; all else untouched.
#pragma once

#include "core/collective/tile_list.hpp"
#include "experiments/sym/run_tile_reduce.hpp"
#include "tests/conformance/harness.hpp"

namespace sym::conformance {

using command::TileReduceKernel;

// A matrix whose rows lie `in_ld` elements apart in `in` and `out_ld` in `out`, and begins `first`
// elements into either.
struct TileCase {
  std::size_t rows, cols, in_ld, out_ld, first;
  std::vector<RootedTile> tiles;
  std::size_t band_bytes = 1 << 10;
};

template <class T, class Op, World W>
void reduce_tiles(W& world, Errors& errors, const Team& team, const TileCase& one, int blocks) {
  const std::size_t in_span = one.first + one.rows * one.in_ld;
  const std::size_t out_span = one.first + one.rows * one.out_ld;
  const auto in = world.template allocate<T>(in_span);
  const auto out = world.template allocate<T>(out_span);
  const Group group{world.channel({blocks}), team};
  TileShape shape{one.rows, one.cols, sizeof(T), team.size()};
  shape.band_bytes = one.band_bytes;
  const TileList list = tile_list(world, shape, one.tiles);
  write_all(world, in, rough<T>(world.pe(), in_span));
  write_all(world, out, poison<T>(out_span));
  if (team.contains_self()) {
    const Matrix<T> from{in.at(one.first), one.rows, one.cols, one.in_ld};
    const Matrix<T> to{out.at(one.first), one.rows, one.cols, one.out_ld};
    world.launch(launch_of("tiles", blocks, 0, false),
                 TileReduceKernel<T, Op>{group, list, from, to});
    std::vector<std::vector<T>> data;
    for (int rank = 0; rank < team.size(); ++rank) data.push_back(rough<T>(team.pe(rank), in_span));
    std::vector<T> wanted = poison<T>(out_span);
    for (const auto& [tile, root] : one.tiles) {
      if (root != team.rank()) continue;
      for (std::size_t r = tile.row; r < tile.row + tile.rows; ++r) {
        for (std::size_t c = tile.col; c < tile.col + tile.cols; ++c) {
          const std::size_t at = one.first + r * one.in_ld + c;
          auto total = widen(data[0][at]);
          for (std::size_t rank = 1; rank < data.size(); ++rank)
            total = Op{}.combine(total, widen(data[rank][at]));
          wanted[one.first + r * one.out_ld + c] = narrow<T>(Op{}.finish(total, team.size()));
        }
      }
    }
    expect_equal(errors, who(world, "tiles, blocks " + std::to_string(blocks)),
                 read_all(world, out, out_span), wanted);
  }
  world.synchronize();
  free_tile_list(world, list);
  world.free(in);
  world.free(out);
}

// Several tiles a root, ranks without any, tiles that touch the edges, one element, a row, a column
// and none; rows at any alignment.
inline TileCase ragged_tiles(int ranks) {
  const auto root = [ranks](int k) { return k % ranks; };
  return {21,
          53,
          60,
          53,
          3,
          {{{0, 0, 8, 16}, root(0)},
           {{0, 16, 8, 16}, root(1)},
           {{8, 0, 13, 7}, root(0)},
           {{0, 52, 21, 1}, root(2)},
           {{20, 7, 1, 45}, root(0)},
           {{9, 9, 1, 1}, root(1)},
           {{10, 10, 0, 5}, root(1)}}};
}
// Every row aligned; some bands of several rows.
inline TileCase even_tiles(int ranks) {
  TileCase one{24, 64, 64, 96, 0, {}, 256};
  for (std::size_t k = 0; k < 12; ++k) {
    one.tiles.push_back({{k / 4 * 8, k % 4 * 16, 8, 16}, static_cast<int>(k) % ranks});
  }
  return one;
}

template <class T, class Op, class W>
void tiles_everywhere(W& world, Errors& errors) {
  const Team all = world.team();
  for (int blocks : {1, 3}) {
    reduce_tiles<T, Op>(world, errors, all, ragged_tiles(all.size()), blocks);
    reduce_tiles<T, Op>(world, errors, all, even_tiles(all.size()), blocks);
  }
  reduce_tiles<T, Op>(world, errors, all, TileCase{0, 0, 0, 0, 0, {}}, 1);
  if (world.n_pes() < 3) return;
  const Team odd = Team::strided(world.pe(), 1, 2, world.n_pes() / 2);  // no communicator is made
  reduce_tiles<T, Op>(world, errors, odd, ragged_tiles(odd.size()), 2);
}

template <class W>
std::vector<Case<W>> tile_reduce_cases() {
  const Effort once = Effort::worst_only;
  return {{"bf16_sum", {1, 2, 3}, tiles_everywhere<bf16, Sum, W>},
          {"bf16_avg", {5}, tiles_everywhere<bf16, Avg, W>, once},
          {"f32_sum", {9}, tiles_everywhere<float, Sum, W>, once},
          {"i32_max", {4}, tiles_everywhere<std::int32_t, Max, W>, once},
          {"f64_min", {2}, tiles_everywhere<double, Min, W>, once},
          {"u8_prod", {3}, tiles_everywhere<std::uint8_t, Prod, W>, once}};
}

}  // namespace sym::conformance
