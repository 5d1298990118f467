// Matrix products of queues, against the triple loop. All values are small integers, and all
// results exact in every type.
#pragma once

#include <array>
#include <string>

#include "tests/conformance/harness.hpp"

namespace sym::conformance {

struct GemmCase {
  std::size_t m, n, k;
  std::size_t pad = 0;  // ld - cols of every operand
  double beta = 0;
  bool bias = false;
  int c_hop = 0;          // c is that of the PE so many further on
  bool in_place = false;  // d is c
  bool prepared = false;
  std::size_t first_row = 0;  // of a's window
};

inline std::string text_of(const GemmCase& g) {
  return std::to_string(g.m) + " x " + std::to_string(g.n) + " x " + std::to_string(g.k) +
         ", ld +" + std::to_string(g.pad) + ", beta " + std::to_string(g.beta) +
         (g.bias ? ", bias" : "") + (g.in_place ? ", in place" : "") +
         (g.c_hop != 0 ? ", c of a peer" : "") + (g.prepared ? ", prepared" : "");
}

// Integers in -most..most, times `factor`.
template <class T>
std::vector<T> integers(int which, int pe, std::size_t n, int most, int factor = 1) {
  std::vector<T> all(n);
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint64_t hash = mixed(mixed(static_cast<std::uint64_t>(which * 64 + pe)) ^ i);
    const int number = static_cast<int>(hash % static_cast<std::uint64_t>(2 * most + 1)) - most;
    all[i] = narrow<T>(static_cast<Accumulator<T>>(factor * number));
  }
  return all;
}

template <class T>
struct GemmData {
  std::vector<T> a, b, c, bias;
  GemmData(const GemmCase& g, int pe, int c_pe)
      : a(integers<T>(1, pe, (g.first_row + g.m) * (g.k + g.pad), 1)),
        b(integers<T>(2, pe, g.n * (g.k + g.pad), 1)),
        c(integers<T>(3, c_pe, g.m * (g.n + g.pad), 4, 2)),
        bias(integers<T>(4, pe, g.n, 5)) {}

  // The whole window of d, which held `before`.
  std::vector<T> product(const GemmCase& g, std::vector<T> before) const {
    for (std::size_t row = 0; row < g.m; ++row) {
      for (std::size_t col = 0; col < g.n; ++col) {
        double sum = 0;
        for (std::size_t i = 0; i < g.k; ++i) {
          sum += static_cast<double>(widen(a[(g.first_row + row) * (g.k + g.pad) + i])) *
                 static_cast<double>(widen(b[col * (g.k + g.pad) + i]));
        }
        const std::size_t at = row * (g.n + g.pad) + col;
        if (g.beta != 0) sum += g.beta * static_cast<double>(widen(c[at]));
        if (g.bias) sum += static_cast<double>(widen(bias[col]));
        before[at] = narrow<T>(static_cast<Accumulator<T>>(sum));
      }
    }
    return before;
  }
};

// The order of the terms decides the sign of a zero, and it is nobody's business.
template <class T>
std::vector<T> without_minus_zero(std::vector<T> all) {
  for (T& one : all) {
    if (widen(one) == 0) one = T{};
  }
  return all;
}

template <class T, class W>
void multiply_once(W& world, Errors& errors, const GemmCase& g) {
  const int c_pe = (world.pe() + g.c_hop) % world.n_pes();
  const GemmData<T> data(g, world.pe(), c_pe);
  const auto a = world.template allocate<T>(data.a.size());
  const auto b = world.template allocate<T>(data.b.size());
  const auto c = world.template allocate<T>(data.c.size());
  const auto d = g.in_place ? c : world.template allocate<T>(data.c.size());
  const auto bias = world.template allocate<T>(g.n);
  const std::vector<T> before = g.in_place ? data.c : poison<T>(data.c.size());
  const Gemm<T> gemm{
      Matrix<T>{a, g.first_row + g.m, g.k, g.k + g.pad}.part(g.first_row, 0, g.m, g.k),
      {b, g.n, g.k, g.k + g.pad},
      {{c, g.m, g.n, g.n + g.pad}, g.c_hop == 0 ? -1 : c_pe},
      {d, g.m, g.n, g.n + g.pad},
      g.beta,
      g.bias ? bias : Window<T>{}};
  write_all(world, a, data.a);
  write_all(world, b, data.b);
  write_all(world, bias, data.bias);
  auto& queue = world.queue(0);
  if (g.prepared) queue.prepare(gemm);
  write_all(world, d, before);
  write_all(world, c, GemmData<T>(g, world.pe(), world.pe()).c);
  world.barrier();
  queue.gemm(gemm);
  world.synchronize();
  expect_equal(errors, who(world, text_of(g)),
               without_minus_zero(read_all(world, d, before.size())),
               without_minus_zero(data.product(g, before)));
}

template <class T, class W>
void multiply_all(W& world, Errors& errors) {
  const std::array cases{GemmCase{1, 1, 1},
                         GemmCase{64, 64, 64},
                         GemmCase{17, 33, 64},
                         GemmCase{33, 64, 3, 5},
                         GemmCase{64, 1, 17, 1, 1},
                         GemmCase{3, 17, 33, 8, 0.5, true},
                         GemmCase{1, 33, 17, 0, 0, true},
                         GemmCase{33, 3, 1, 3, 1, true, 1},
                         GemmCase{64, 33, 33, 0, 0.5, false, 1},
                         GemmCase{33, 17, 64, 2, 0.5, false, 0, true},
                         GemmCase{64, 64, 17, 0, 1, true, 0, true},
                         GemmCase{17, 64, 64, 0, 1, false, 1, false, true},
                         GemmCase{3, 1, 64, 1, 0, false, 0, false, true},
                         GemmCase{33, 64, 33, 3, 0, true, 0, false, false, 3}};
  for (const GemmCase& g : cases) multiply_once<T>(world, errors, g);
}

// A build without Eigen has no products on the CPU: nothing to test there, and only there.
template <class T, class W>
void multiply_where_possible(W& world, Errors& errors) {
  try {
    multiply_all<T>(world, errors);
  } catch (const Unavailable& error) {
    if (std::string(error.what()).find("no Eigen") == std::string::npos) throw;
  }
}

template <class W>
std::vector<Case<W>> gemm_cases() {
  return {{"gemm_f32", {1, 2}, multiply_where_possible<float, W>, Effort::worst_only},
          {"gemm_bf16", {1, 3}, multiply_where_possible<bf16, W>, Effort::worst_only},
          {"gemm_f16", {2}, multiply_where_possible<f16, W>, Effort::worst_only},
          {"gemm_f64", {1, 2}, multiply_where_possible<double, W>, Effort::worst_only}};
}

}  // namespace sym::conformance
