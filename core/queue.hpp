// Queue: a PE's second line of execution, beside its blocks. Its operations are enqueued by the
// PE's host program and run in order, each complete, and visible to every PE, before the next
// begins. Queues of one PE are unordered but by record and after; those of different PEs but by
// post and take. On GPUs a queue is a stream and its copies are the copy engine's; elsewhere it is
// a fibre or a thread.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/error.hpp"
#include "core/launch.hpp"
#include "core/matrix.hpp"

namespace sym {

// A matrix as it lies on one PE: this one's own or a peer's, which is then read over the link.
template <class T>
struct At {
  Matrix<T> matrix;
  int pe = -1;  // -1: this PE
};

// d = a * transpose(b) + beta * c + bias, with a of m x k, b of n x k, c and d of m x n, and bias a
// row of n that is added to every row (count 0: none). c is read only if beta is not 0; it may be
// d, element for element; d has no element of the others. Accumulates in Accumulator<T> in no
// stated order (exact where all partial sums are), rounds once. T is bf16, f16, float or double.
template <class T>
struct Gemm {
  Matrix<T> a, b;
  At<T> c;
  Matrix<T> d;
  double beta = 0;
  Window<T> bias;
};

// Binary flags that reset themselves: `slots` for each ordered pair of PEs. post(slot, pe) sets
// this PE's flag of `slot` at pe; take(slot, pe) waits for the flag that pe has set here, and
// clears it. A graph that posts and takes can so be replayed with no epoch in it. A post on a flag
// that has not been taken is an error (check reports it). Made by World::posts, which is
// collective.
struct Posts {
  Window<std::uint64_t> words;  // symmetric: slots rows of one word for each posting PE
  std::size_t slots = 0;
  int lanes = 1;  // the number of PEs

  constexpr std::size_t word(std::size_t slot, int from) const {
    return slot * static_cast<std::size_t>(lanes) + static_cast<std::size_t>(from);
  }
};

// A point in a queue, made by record(): everything enqueued before it.
struct Mark {
  std::int64_t index = -1;
};

// Bad arguments (shapes that do not fit, a PE or slot that is not there, memory out of bounds) are
// refused with UsageError when they are enqueued. What goes wrong later makes the World fail, as in
// a launch: synchronize() throws.
// clang-format off
template <class Q>
concept Queue = requires(Q queue, Matrix<float> matrix, int pe, LaunchConfig config,
                         detail::ArchetypeKernel kernel, Gemm<float> gemm, Posts posts,
                         std::size_t slot, Mark mark) {
  { queue.pe() } -> std::convertible_to<int>;
  { queue.n_pes() } -> std::convertible_to<int>;
  // dst of `pe` becomes src of this PE; dst of this PE becomes src of `pe`. Shapes are equal.
  queue.put(matrix, matrix, pe);
  queue.get(matrix, matrix, pe);
  queue.launch(config, kernel);  // config.stream is this queue, whatever it says
  queue.gemm(gemm);
  // Chooses how gemm(gemm) will run, by timing where that is worth it, so that neither gemm nor a
  // captured graph has to. Not while capturing. Runs on what the operands hold, and only d changes:
  // hold data like that to come, because a GPU is faster at zeros than at numbers.
  queue.prepare(gemm);
  // Released after everything in this queue before it; acquired by everything after the take.
  queue.post(posts, slot, pe);
  // Fails the World, as an expired wait does, if the flag does not come within the wait limit.
  queue.take(posts, slot, pe);
  { queue.record() } -> std::same_as<Mark>;
  // What this queue runs from here on begins after what `mark` stands for has ended. Of any queue of
  // this PE, where one of this queue itself changes nothing; made in the same capture, or outside
  // any.
  queue.after(mark);
};
// clang-format on

struct QueueArchetype {
  int pe() const { return 0; }
  int n_pes() const { return 1; }
  template <class T>
  void put(Matrix<T>, Matrix<T>, int) {}
  template <class T>
  void get(Matrix<T>, Matrix<T>, int) {}
  template <class Kernel>
  void launch(const LaunchConfig&, Kernel) {}
  template <class T>
  void gemm(const Gemm<T>&) {}
  template <class T>
  void prepare(const Gemm<T>&) {}
  void post(const Posts&, std::size_t, int) {}
  void take(const Posts&, std::size_t, int) {}
  Mark record() { return {}; }
  void after(Mark) {}
};
static_assert(Queue<QueueArchetype>);

// Throws UsageError if d, which is written, has an element of x, which is read, unless the two are
// the same and may be.
template <class T>
void require_apart(const Matrix<T>& d, const Matrix<T>& x, const char* name, bool may_be_same) {
  if (!overlap(d, x) || (may_be_same && same_place(d, x))) return;
  const auto bytes = [](const Matrix<T>& y) {
    return "[" + std::to_string(y.data.offset_bytes) + ", " +
           std::to_string(y.data.offset_bytes + y.span() * sizeof(T)) + ")";
  };
  throw UsageError("gemm: overlap: d in bytes " + bytes(d) + " of its segment, and " + name +
                   " in bytes " + bytes(x) + "; they must be apart" +
                   (may_be_same ? ", or the same element for element" : ""));
}

// Throws UsageError, saying which, unless the operands' shapes fit each other, no size is 0, rows
// do not overlap, each operand lies within its window, and d is none of the others but c. For
// backends; `pe` is the PE that the queue is of.
template <class T>
void require_shapes(const Gemm<T>& g, int pe) {
  const auto fits = [](const Matrix<T>& x, std::size_t rows, std::size_t cols, const char* name) {
    if (x.rows == rows && x.cols == cols && x.ld >= cols && x.span() <= x.data.count) return;
    throw UsageError(std::string("gemm: ") + name + " is " + std::to_string(x.rows) + " x " +
                     std::to_string(x.cols) + " with " + std::to_string(x.ld) +
                     " elements from row to row in a window of " + std::to_string(x.data.count) +
                     "; " + std::to_string(rows) + " x " + std::to_string(cols) + " is wanted");
  };
  const std::size_t m = g.a.rows;
  const std::size_t n = g.b.rows;
  const std::size_t k = g.a.cols;
  if (m == 0 || n == 0 || k == 0) throw UsageError("gemm: a size is 0; m, n and k are at least 1");
  fits(g.a, m, k, "a");
  fits(g.b, n, k, "b");
  fits(g.d, m, n, "d");
  if (g.beta != 0) fits(g.c.matrix, m, n, "c");
  if (g.bias.count != 0 && g.bias.count != n) {
    throw UsageError("gemm: a bias of " + std::to_string(g.bias.count) + " for " +
                     std::to_string(n) + " columns");
  }
  require_apart(g.d, g.a, "a", false);
  require_apart(g.d, g.b, "b", false);
  const bool own_c = g.beta != 0 && (g.c.pe == -1 || g.c.pe == pe);
  if (own_c) require_apart(g.d, g.c.matrix, "c", true);
  if (g.bias.count != 0) require_apart(g.d, row_of(g.bias, 0, n), "the bias", false);
}

}  // namespace sym
