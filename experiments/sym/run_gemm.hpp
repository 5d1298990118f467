// run_gemm: one point of the distributed product in any world: fill, run, verify, time.
#pragma once

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "core/gemm/instances.hpp"
#include "core/gemm/run.hpp"
#include "experiments/sym/gemm_data.hpp"
#include "experiments/sym/program.hpp"
#include "experiments/sym/timing.hpp"

namespace sym::command {

// What a point's schedule comes to.
inline gemm::Plan plan_of(const Point& point) {
  const GemmPoint& g = point.gemm;
  const gemm::Schedule schedule =
      gemm::find_schedule(point.variant).make(point.pes, gemm::Grid{g.grid_rows, g.grid_cols});
  gemm::PlanOptions options;
  options.with_c = g.beta != 0;
  options.max_buffers = g.max_buffers;
  return gemm::derive(schedule, gemm::even_tiling({g.m, g.n, g.k}, schedule.parts), options);
}

// The product of all of a rank's stages as a single one, where they make up a box.
inline gemm::Extent whole_of(const gemm::Plan& plan, int rank) {
  std::set<int> m, n, k;
  const std::vector<gemm::Stage>& stages = plan.ranks[gemm::to_index(rank)].stages;
  for (const gemm::Stage& stage : stages) {
    m.insert(stage.tile.m);
    n.insert(stage.tile.n);
    k.insert(stage.tile.k);
  }
  if (stages.empty() || m.size() * n.size() * k.size() != stages.size()) return {};
  const auto sum = [](const std::set<int>& tiles, const gemm::Cuts& cuts) {
    std::size_t elements = 0;
    for (const int tile : tiles) elements += cuts.size(tile);
    return elements;
  };
  return {sum(m, plan.tiling.m), sum(n, plan.tiling.n), sum(k, plan.tiling.k)};
}

template <World W, class T>
class GemmRun {
 public:
  GemmRun(W& world, const Point& point) : world_(world), point_(point), plan_(plan_of(point)) {}

  PointResult run() {
    x_.a = world_.template allocate<T>(plan_.a.capacity());
    x_.b = world_.template allocate<T>(plan_.b.capacity());
    x_.d = world_.template allocate<T>(plan_.c.capacity());
    if (point_.gemm.beta != 0) x_.c = world_.template allocate<T>(plan_.c.capacity());
    if (point_.gemm.bias) x_.bias = world_.template allocate<T>(point_.gemm.n);
    x_.beta = point_.gemm.beta;
    gemm::Runner<W, T> runner(world_, plan_);
    if (point_.timed > 0 && world_.moves_data()) fill_dense();  // what the choice is made for
    runner.prepare(x_);
    describe();
    verify(runner);
    if (point_.timed > 0) time(runner);
    runner.free();
    if (point_.gemm.bias) world_.free(x_.bias);
    if (point_.gemm.beta != 0) world_.free(x_.c);
    world_.free(x_.d);
    world_.free(x_.b);
    world_.free(x_.a);
    return result_;
  }

 private:
  void describe() {
    result_.bytes = point_.bytes;
    result_.count = plan_.c.held(world_.pe()).rows * plan_.c.held(world_.pe()).cols;
    const double bytes = static_cast<double>(gemm::received(plan_, world_.pe()).all() * sizeof(T));
    result_.measures.remote_bytes = result_.measures.remote_bytes_max = bytes;
  }

  void verify(gemm::Runner<W, T>& runner) {
    GraphId graph;  // for all but the first iteration: its operands are data
    for (int iteration = 0; iteration < point_.iterations; ++iteration) {
      const GemmData<T> data(point_, iteration);
      if (world_.moves_data()) prepare(data);
      world_.barrier();  // for the time alone: a call waits for its peers' operands by itself
      const double begin_us = point_.time_verified ? world_.mark_us() : 0;
      if (point_.skip_pe == world_.pe() && iteration == 0) {
        // --inject skip
      } else if (point_.graph && iteration > 0) {
        world_.replay(graph);
      } else {
        runner.run(x_);
      }
      if (point_.time_verified) result_.time_us = world_.mark_us() - begin_us;
      world_.synchronize();
      if (world_.moves_data()) compare(data);
      if (point_.graph && iteration == 0 && point_.iterations > 1) {
        world_.begin_capture();
        runner.run(x_);
        graph = world_.end_capture();
      }
    }
  }

  void time(gemm::Runner<W, T>& runner) {
    if (world_.moves_data()) fill_dense();
    world_.barrier();
    result_.time_us = time_us(world_, point_, [&] { runner.run(x_); });
    if (point_.gemm.with_reference) time_reference(runner);
  }

  // f(row of the operand, first column, elements, place) for the parts of each row of this PE's
  // matrix that lie in one piece in the operand; what f writes is written.
  template <class F>
  void write(const gemm::Partition& partition, Window<T> window, F f) {
    const gemm::Held& held = partition.held(world_.pe());
    if (held.rows * held.cols == 0) return;
    const std::vector<gemm::Piece> pieces = partition.pieces(world_.pe());
    RowWindow<W, T>(world_, window, held.cols).write(0, held.rows, [&](std::size_t r, T* place) {
      for (const gemm::Piece& piece : pieces) {
        if (r < piece.place.row || r >= piece.place.row + piece.place.rows) continue;
        f(piece.row + r - piece.place.row, piece.col, piece.place.cols, place + piece.place.col);
      }
    });
  }

  void prepare(const GemmData<T>& data) {
    write(plan_.a, x_.a, [&](std::size_t row, std::size_t first, std::size_t n, T* to) {
      data.row_of_a(to, row, first, n);
    });
    write(plan_.b, x_.b, [&](std::size_t row, std::size_t first, std::size_t n, T* to) {
      data.row_of_b(to, row, first, n);
    });
    if (point_.gemm.beta != 0) {
      write(plan_.c, x_.c, [&](std::size_t row, std::size_t first, std::size_t n, T* to) {
        data.row_of_c(to, row, first, n);
      });
    }
    if (point_.gemm.bias) {
      const std::vector<T> bias = data.bias();
      world_.write(x_.bias, bias.data(), bias.size());
    }
    const gemm::Held& held = plan_.c.held(world_.pe());
    if (held.rows * held.cols == 0) return;
    RowWindow<W, T> d(world_, x_.d, held.cols);
    for (const std::size_t row : compared_rows()) d.spoil(row, 1);
  }

  // Random floats in place of mostly zeros: what a GPU draws power for.
  void fill_dense() {
    const std::vector<T> pattern = random_pattern<T>(PatternKey{point_.seed, 0, 1}, world_.pe());
    const auto row_of = [&](std::size_t row, std::size_t first, std::size_t n, T* to) {
      fill(to, n, pattern, row * 2741 + first);
    };
    write(plan_.a, x_.a, row_of);
    write(plan_.b, x_.b, row_of);
    if (point_.gemm.beta != 0) write(plan_.c, x_.c, row_of);
  }

  // At most 64 of n indices, the first and the last among them, or all of few.
  static std::vector<std::size_t> sampled(std::size_t n) {
    constexpr std::size_t most = 64;
    constexpr std::size_t few = 256;
    std::vector<std::size_t> all;
    const std::size_t chosen = n <= few ? n : most;
    for (std::size_t i = 0; i < chosen; ++i)
      all.push_back(chosen == n ? i : i * (n - 1) / (chosen - 1));
    return all;
  }

  // Of the rows of this PE's D, those that are looked at: of each piece as many as are sampled.
  std::vector<std::size_t> compared_rows() const {
    std::set<std::size_t> rows;
    for (const gemm::Piece& piece : plan_.c.pieces(world_.pe())) {
      for (const std::size_t row : sampled(piece.place.rows)) rows.insert(piece.place.row + row);
    }
    return {rows.begin(), rows.end()};
  }

  // Of each piece of this PE's D the sampled rows, and in each the sampled columns.
  void compare(const GemmData<T>& data) {
    Mismatches mismatches(result_, world_.pe());
    const gemm::Held& held = plan_.c.held(world_.pe());
    if (held.rows * held.cols == 0) return;
    const std::vector<gemm::Piece> pieces = plan_.c.pieces(world_.pe());
    RowWindow<W, T> d(world_, x_.d, held.cols);
    Hash hash;
    const auto compare_row = [&](std::size_t r, const T* got) {
      for (const gemm::Piece& piece : pieces) {
        if (r < piece.place.row || r >= piece.place.row + piece.place.rows) continue;
        const std::size_t row = piece.row + r - piece.place.row;
        for (const std::size_t at : sampled(piece.place.cols)) {
          const T wanted = narrow<T>(static_cast<Accumulator<T>>(data.result(row, piece.col + at)));
          mismatches.compare("row " + std::to_string(row), got + piece.place.col + at, &wanted, 1,
                             piece.col + at);
        }
      }
      for (const std::size_t at : sampled(held.cols)) hash.add(got + at, sizeof(T));
    };
    for (const std::size_t row : compared_rows()) d.read(row, 1, compare_row);
    result_.hash = hash.value();
  }

  // What the product costs without its peers: this PE's part at once, and stage by stage.
  void time_reference(gemm::Runner<W, T>& runner) {
    gemm::Extent most;
    for (int rank = 0; rank < point_.pes; ++rank) {
      const gemm::Extent one = whole_of(plan_, rank);
      if (one.m == 0) return;  // not one product
      most = {std::max(most.m, one.m), std::max(most.n, one.n), std::max(most.k, one.k)};
    }
    const gemm::Extent own = whole_of(plan_, world_.pe());
    Gemm<T> whole;
    const auto matrix = [&](std::size_t room, std::size_t rows, std::size_t cols) {
      return Matrix<T>{world_.template allocate<T>(room), rows, cols, cols};
    };
    whole.a = matrix(most.m * most.k, own.m, own.k);
    whole.b = matrix(most.n * most.k, own.n, own.k);
    whole.d = matrix(most.m * most.n, own.m, own.n);
    const std::vector<T> pattern = random_pattern<T>(PatternKey{point_.seed, 1, 1}, world_.pe());
    const auto fill_all = [&](const Matrix<T>& input) {
      RowWindow<W, T>(world_, input.data, input.cols)
          .write(0, input.rows,
                 [&](std::size_t row, T* to) { fill(to, input.cols, pattern, row * 2741); });
    };
    fill_all(whole.a);
    fill_all(whole.b);
    auto& queue = world_.queue(0);
    queue.prepare(whole);
    result_.measures.pure_us = time_us(world_, point_, [&] { queue.gemm(whole); });
    const std::vector<gemm::Stage>& stages = plan_.ranks[gemm::to_index(world_.pe())].stages;
    result_.measures.stages_us = time_us(world_, point_, [&] {
      for (const gemm::Stage& stage : stages) queue.gemm(alone(runner.product(stage, x_)));
    });
    world_.free(whole.d.data);
    world_.free(whole.b.data);
    world_.free(whole.a.data);
  }
  // A stage's product with its addend on this PE.
  static Gemm<T> alone(Gemm<T> product) {
    if (product.c.pe >= 0) product.c = At<T>{product.d};
    return product;
  }

  W& world_;
  const Point point_;
  const gemm::Plan plan_;
  gemm::Operands<T> x_;
  PointResult result_;
};

template <World W, class T>
PointResult run_gemm(W& world, const Point& point) {
  return GemmRun<W, T>(world, point).run();
}

}  // namespace sym::command
