// Runs a plan on any World, over its queues.
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "core/error.hpp"
#include "core/gemm/walk.hpp"
#include "core/world.hpp"

namespace sym::gemm {

// The operands as symmetric windows. Each rank's part of a window begins with its own matrix: the
// tiles that the plan's partition gives it, row-major, without gaps (Partition::pieces); windows
// have at least the partition's capacity. D lies as C does, and may be the same window.
template <class T>
struct Operands {
  Window<T> a, b;
  Window<T> c;  // read if beta is not 0; then the plan must be one with C
  Window<T> d;
  Window<T> bias;  // the n values, the same on every rank; count 0: none
  double beta = 0;
};

// D = A * transpose(B) + beta * C + bias, as a plan says. PE r of the world is the plan's rank r.
//
// run() enqueues one call on two queues of the PE; the call begins and ends on `compute`, and may
// be captured. Every PE calls run() equally often, with equal arguments. From where its own call
// ends, a PE may write its operands and read its D, and call again: no barrier is needed.
//
// What is handed from rank to rank, and what a rank adds to in several steps, is rounded to T each
// time (instances.hpp says how often); each product accumulates in Accumulator<T>.
template <World W, class T>
class Runner {
 public:
  // [collective] Allocates buffers and flags. Throws UsageError unless the plan is for this world.
  Runner(W& world, Plan plan, int compute = 0, int copies = 1)
      : world_(world), plan_(std::move(plan)), compute_(compute), copies_(copies) {
    if (plan_.pes != world.n_pes()) {
      throw UsageError("gemm: a plan for " + std::to_string(plan_.pes) + " ranks in a world of " +
                       std::to_string(world.n_pes()) + " PEs");
    }
    if (compute == copies) throw UsageError("gemm: products and copies need a queue each");
    posts_ = world.posts(plan_.slots);
    buffers_a_ = world.template allocate<T>(plan_.buffer_a * to_index(plan_.buffers_a));
    buffers_b_ = world.template allocate<T>(plan_.buffer_b * to_index(plan_.buffers_b));
    partials_ = world.template allocate<T>(plan_.partials);
  }

  // [collective] Gives the buffers back. The flags stay the World's.
  void free() {
    world_.free(buffers_a_);
    world_.free(buffers_b_);
    world_.free(partials_);
  }

  // [collective] Lets the queue choose how each product will run (Queue::prepare), and load what it
  // needs for that: a product that loaded code while another rank's call waits for this one might
  // wait for that call in turn. Once before the first run, and again if beta becomes 0 or other
  // than 0, or a bias comes or goes. Where time matters, with A and B holding data like that to
  // come; D is written. Not while capturing.
  void prepare(const Operands<T>& operands) {
    require(operands);
    for (const Stage& stage : mine().stages) queue(Line::compute).prepare(product(stage, operands));
    world_.synchronize();
    world_.barrier();
    prepared_ = true;
  }

  // Enqueues one call.
  void run(const Operands<T>& operands) {
    require(operands);
    if (!prepared_) throw UsageError("gemm: run() before prepare(), which every PE calls once");
    Enqueue enqueue{*this, operands};
    walk(plan_, world_.pe(), enqueue);
  }

  const Plan& plan() const { return plan_; }
  // The local product of a stage of this rank, for those who time it alone.
  Gemm<T> product(const Stage& stage, const Operands<T>& x) const {
    const Tile& t = stage.tile;
    Gemm<T> g;
    g.a = input(Which::a, x.a, t.m, t.k, stage.buffer_a);
    g.b = input(Which::b, x.b, t.n, t.k, stage.buffer_b);
    g.d = stage.to < 0 ? tile(Which::c, x.d, t.m, t.n) : partial(world_.pe(), stage.to);
    if (stage.addend == Addend::user) {
      g.beta = plan_.options.with_c ? x.beta : 0;
      if (g.beta != 0) g.c = at(tile(Which::c, x.c, t.m, t.n), stage.peer);
    } else {
      g.beta = 1;
      g.c = stage.addend == Addend::own ? At<T>{g.d}
                                        : at(partial(stage.peer, stage.partial), stage.peer);
    }
    if (stage.complete && x.bias.count != 0) {
      const Range columns = plan_.tiling.n.part(t.n);
      g.bias = x.bias.at(columns.first);
      g.bias.count = columns.count;
    }
    return g;
  }

 private:
  // What a walk tells, to the queues.
  struct Enqueue {
    Runner& runner;
    const Operands<T>& operands;
    void post(Line line, const Flag& flag) {
      runner.queue(line).post(runner.posts_, flag.slot, flag.pe);
    }
    void take(Line line, const Flag& flag) {
      runner.queue(line).take(runner.posts_, flag.slot, flag.pe);
    }
    Mark record(Line line) { return runner.queue(line).record(); }
    void after(Line line, Mark mark) { runner.queue(line).after(mark); }
    void pull(const Pull& one) {
      const Window<T> from = one.which == Which::a ? operands.a : operands.b;
      const Matrix<T> source = runner.tile(one.which, from, one.row, one.col);
      runner.queue(Line::copies)
          .get(runner.buffer(one.which, one.buffer, source.rows, source.cols), source, one.owner);
    }
    void multiply(const Stage& stage) {
      runner.queue(Line::compute).gemm(runner.product(stage, operands));
    }
    void deliver(const Delivery& one) {
      runner.queue(Line::compute)
          .get(runner.tile(Which::c, operands.d, one.m, one.n),
               runner.partial(one.from, one.partial), one.from);
    }
  };

  auto& queue(Line line) { return world_.queue(line == Line::compute ? compute_ : copies_); }
  const RankPlan& mine() const { return plan_.ranks[to_index(world_.pe())]; }

  At<T> at(const Matrix<T>& matrix, int pe) const {
    return At<T>{matrix, pe == world_.pe() ? -1 : pe};
  }
  // A tile where it lies in its owner's matrix.
  Matrix<T> tile(Which which, Window<T> window, int row, int col) const {
    const Partition& partition = plan_.of(which);
    const Held& held = partition.held(partition.owner(row, col));
    const Place place = partition.place(row, col);
    return Matrix<T>{window, held.rows, held.cols, held.cols}.part(place.row, place.col, place.rows,
                                                                   place.cols);
  }
  Matrix<T> buffer(Which which, int index, std::size_t rows, std::size_t cols) const {
    const Window<T> all = which == Which::a ? buffers_a_ : buffers_b_;
    const std::size_t size = which == Which::a ? plan_.buffer_a : plan_.buffer_b;
    return Matrix<T>{all.at(size * to_index(index)), rows, cols, cols};
  }
  Matrix<T> partial(int rank, int index) const {
    const Place place = plan_.ranks[to_index(rank)].partials[to_index(index)];
    return Matrix<T>{partials_.at(place.row), place.rows, place.cols, place.cols};
  }
  Matrix<T> input(Which which, Window<T> own, int row, int col, int index) const {
    const Cuts& rows = axes_of(plan_.tiling, which).rows;
    const Cuts& cols = axes_of(plan_.tiling, which).cols;
    return index < 0 ? tile(which, own, row, col)
                     : buffer(which, index, rows.size(row), cols.size(col));
  }

  void require(const Operands<T>& x) const {
    const auto holds = [](const char* name, std::size_t count, std::size_t wanted) {
      if (count >= wanted) return;
      throw UsageError(std::string("gemm: ") + name + " is a window of " + std::to_string(count) +
                       " elements; the plan needs " + std::to_string(wanted));
    };
    holds("a", x.a.count, plan_.a.capacity());
    holds("b", x.b.count, plan_.b.capacity());
    holds("d", x.d.count, plan_.c.capacity());
    if (x.beta != 0 && !plan_.options.with_c)
      throw UsageError("gemm: beta is not 0, but the plan was derived without C");
    if (x.beta != 0) holds("c", x.c.count, plan_.c.capacity());
    if (x.bias.count != 0) holds("bias", x.bias.count, plan_.tiling.n.extent());
  }

  W& world_;
  Plan plan_;
  int compute_, copies_;
  Posts posts_;
  Window<T> buffers_a_, buffers_b_, partials_;
  bool prepared_ = false;
};

}  // namespace sym::gemm
