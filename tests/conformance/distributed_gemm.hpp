// A distributed GEMM under test: its operands, written anew for each call, and what D must be.
#pragma once

#include <string>
#include <vector>

#include "core/gemm/run.hpp"
#include "core/gemm/verify.hpp"
#include "tests/conformance/harness.hpp"

namespace sym::conformance {

// The operands of one call as a whole, in numbers so small that all partial sums are exact in bf16.
struct Whole {
  gemm::Extent extent;
  std::vector<int> a, b, c, bias;

  Whole(const gemm::Extent& e, int call)
      : extent(e),
        a(numbers(e.m * e.k, 4 * call, 3)),
        b(numbers(e.n * e.k, 4 * call + 1, 3)),
        c(numbers(e.m * e.n, 4 * call + 2, 9)),
        bias(numbers(e.n, 4 * call + 3, 9)) {}

  int d(std::size_t row, std::size_t col, int beta, bool with_bias) const {
    int sum = beta * c[row * extent.n + col] + (with_bias ? bias[col] : 0);
    for (std::size_t k = 0; k < extent.k; ++k) sum += a[row * extent.k + k] * b[col * extent.k + k];
    return sum;
  }

 private:
  static std::vector<int> numbers(std::size_t n, int seed, std::uint64_t values) {
    std::vector<int> all(n);
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint64_t hash = mixed(mixed(static_cast<std::uint64_t>(seed)) ^ i);
      all[i] = static_cast<int>(hash % values) - static_cast<int>(values / 2);
    }
    return all;
  }
};

template <class T>
T number(int value) {
  return narrow<T>(static_cast<Accumulator<T>>(value));
}

// One plan on one world, with its operands.
template <class T, World W>
class Products {
 public:
  Products(W& world, Errors& errors, const gemm::Schedule& schedule, const gemm::Tiling& tiling,
           const gemm::PlanOptions& options, bool in_place = false)
      : world_(world),
        errors_(errors),
        runner_(world, gemm::derive(schedule, tiling, options)),
        what_(schedule.name + " of " + std::to_string(tiling.m.extent()) + "x" +
              std::to_string(tiling.n.extent()) + "x" + std::to_string(tiling.k.extent())) {
    const gemm::Plan& plan = runner_.plan();
    for (const std::string& sentence : gemm::check_plan(plan)) errors.add(what_ + ": " + sentence);
    x_.a = world.template allocate<T>(plan.a.capacity());
    x_.b = world.template allocate<T>(plan.b.capacity());
    x_.d = world.template allocate<T>(plan.c.capacity() + guard);
    x_.c = in_place ? x_.d : world.template allocate<T>(plan.c.capacity());
    bias_ = world.template allocate<T>(tiling.n.extent());
    in_place_ = in_place;
  }
  ~Products() = default;
  Products(const Products&) = delete;
  Products& operator=(const Products&) = delete;

  void free() {
    world_.free(x_.a);
    world_.free(x_.b);
    world_.free(x_.d);
    if (!in_place_) world_.free(x_.c);
    world_.free(bias_);
    runner_.free();
  }

  void prepare() { runner_.prepare(x_); }
  void choose(int beta, bool with_bias) {
    x_.beta = beta;
    x_.bias = with_bias ? bias_ : Window<T>{};
    runner_.prepare(x_);
  }
  void enqueue() { runner_.run(x_); }

  // Operands of call number `call`, and rubbish where D will be.
  void fill(int call) {
    const gemm::Plan& plan = runner_.plan();
    const Whole whole(plan.tiling.extent(), call);
    const auto from = [](const std::vector<int>& all, std::size_t ld) {
      return
          [&all, ld](std::size_t row, std::size_t col) { return number<T>(all[row * ld + col]); };
    };
    const int me = world_.pe();
    write_all(world_, x_.a, gemm::held_values<T>(plan.a, me, from(whole.a, whole.extent.k)));
    write_all(world_, x_.b, gemm::held_values<T>(plan.b, me, from(whole.b, whole.extent.k)));
    write_all(world_, x_.d, poison<T>(x_.d.count));
    write_all(world_, x_.c, gemm::held_values<T>(plan.c, me, from(whole.c, whole.extent.n)));
    std::vector<T> bias;
    for (const int one : whole.bias) bias.push_back(number<T>(one));
    write_all(world_, bias_, bias);
  }

  // D is that of call number `call`, and nothing beyond it was written.
  void expect(int call) {
    const gemm::Plan& plan = runner_.plan();
    const Whole whole(plan.tiling.extent(), call);
    std::vector<T> wanted =
        gemm::held_values<T>(plan.c, world_.pe(), [&](std::size_t row, std::size_t col) {
          return number<T>(whole.d(row, col, static_cast<int>(x_.beta), x_.bias.count != 0));
        });
    const std::vector<T> rubbish = poison<T>(x_.d.count - wanted.size());
    wanted.insert(wanted.end(), rubbish.begin(), rubbish.end());
    expect_equal(errors_, who(world_, what_ + ", call " + std::to_string(call)),
                 unsigned_zeros(read_all(world_, x_.d, x_.d.count)), wanted);
  }

  // One call after another, each with other operands.
  void calls(int n, int beta, bool with_bias) {
    choose(beta, with_bias);
    for (int call = 1; call <= n; ++call) {
      fill(call);
      enqueue();
      world_.synchronize();
      expect(call);
    }
  }

 private:
  static constexpr std::size_t guard = 16;
  // The sign of a zero depends on the order of the terms, which is free.
  static std::vector<T> unsigned_zeros(std::vector<T> all) {
    for (T& one : all) {
      if (widen(one) == 0) one = T{};
    }
    return all;
  }

  W& world_;
  Errors& errors_;
  gemm::Runner<W, T> runner_;
  std::string what_;
  gemm::Operands<T> x_;
  Window<T> bias_;
  bool in_place_ = false;
};

}  // namespace sym::conformance
