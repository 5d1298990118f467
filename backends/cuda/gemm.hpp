// Matrix products by cuBLASLt: plans, and how they are chosen. No CUDA header needed.
#pragma once

#include <cstddef>
#include <memory>

#include "core/types.hpp"

struct CUstream_st;

namespace sym::cuda {

enum class NumberType { bf16, f16, f32, f64 };
template <class T>
inline constexpr NumberType number_type = NumberType::f32;
template <>
inline constexpr NumberType number_type<bf16> = NumberType::bf16;
template <>
inline constexpr NumberType number_type<f16> = NumberType::f16;
template <>
inline constexpr NumberType number_type<double> = NumberType::f64;

// One operand where it lies: row-major, `ld` elements from row to row.
struct Place {
  char* data = nullptr;
  std::size_t ld = 0;
};

// d = a * transpose(b) + beta * c + bias, as core/queue.hpp says. All addresses are this device's.
// c is d where beta is 0; bias is null if there is none.
struct Product {
  NumberType type = NumberType::f32;
  std::size_t m = 0, n = 0, k = 0;
  Place a, b, c, d;
  double beta = 0;
  const char* bias = nullptr;
  bool c_is_remote = false;
};

// The plans of one queue, and the workspaces that its products use one after another: those that
// run when they are enqueued have one, captured ones another, because a graph is not ordered with
// the queue that it was captured from. Used by one host thread. Throws Unavailable where this build
// has no cuBLASLt.
class GemmPlans {
 public:
  GemmPlans();
  ~GemmPlans();  // what uses the workspaces has ended
  GemmPlans(const GemmPlans&) = delete;
  GemmPlans& operator=(const GemmPlans&) = delete;

  // Enqueues the product with the plan for its shape, by cuBLASLt's first choice unless `time` was
  // called, and by a plain kernel where cuBLASLt has none. `captured`: the stream is capturing.
  void run(const Product& product, CUstream_st* stream, bool captured);
  // Runs the product with each of cuBLASLt's choices and keeps the fastest; by the plain kernel if
  // none runs. Not while capturing.
  void time(const Product& product, CUstream_st* stream);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sym::cuda
