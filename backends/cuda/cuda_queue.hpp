// CudaQueue: sym::Queue on a CUDA stream. Copies are the copy engine's, products cuBLASLt's, flags
// kernels of one thread. No CUDA header needed; include launch.cuh where kernels are launched.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "backends/cuda/gemm.hpp"
#include "core/queue.hpp"

namespace sym::cuda {

class CudaWorld;

// Made by CudaWorld::queue. After a failure (World::recover not yet called) enqueueing throws it.
// What was enqueued before runs on: takes return at once, posts behind kernels are not made, copies
// and products are harmless.
class CudaQueue {
 public:
  CudaQueue(CudaWorld& world, int number);
  CudaQueue(const CudaQueue&) = delete;
  CudaQueue& operator=(const CudaQueue&) = delete;

  int pe() const;
  int n_pes() const;

  template <class T>
  void put(Matrix<T> dst, Matrix<T> src, int pe) {
    copy("put", Area::of(dst, pe), Area::of(src, this->pe()));
  }
  template <class T>
  void get(Matrix<T> dst, Matrix<T> src, int pe) {
    copy("get", Area::of(dst, this->pe()), Area::of(src, pe));
  }
  template <class Kernel>
  void launch(const LaunchConfig& config, Kernel kernel);  // launch.cuh

  // Where this build has no cuBLASLt, Unavailable.
  template <class T>
  void gemm(const Gemm<T>& g) {
    multiply(product(g));
  }
  template <class T>
  void prepare(const Gemm<T>& g) {
    require_no_capture("prepare");
    time_plans(product(g));
  }

  void post(const Posts& posts, std::size_t slot, int pe, Site site = Site::here());
  void take(const Posts& posts, std::size_t slot, int pe, Site site = Site::here());
  Mark record();
  void after(Mark mark);

 private:
  // A matrix in bytes, on one PE.
  struct Area {
    std::size_t offset_bytes, rows, row_bytes, pitch_bytes;
    std::size_t span, count, element_bytes;  // elements from first to last; of the window
    int pe;

    template <class T>
    static Area of(const Matrix<T>& m, int pe) {
      return Area{m.data.offset_bytes, m.rows,   m.cols * sizeof(T),
                  m.ld * sizeof(T),    m.span(), m.data.count,
                  sizeof(T),           pe};
    }
  };

  template <class T>
  Product product(const Gemm<T>& g) const {
    require_shapes(g, pe());
    const int c_pe = g.c.pe == -1 ? pe() : g.c.pe;
    Product p;
    p.type = number_type<T>;
    p.m = g.a.rows;
    p.n = g.b.rows;
    p.k = g.a.cols;
    p.a = {address("gemm", Area::of(g.a, pe())), g.a.ld};
    p.b = {address("gemm", Area::of(g.b, pe())), g.b.ld};
    p.d = {address("gemm", Area::of(g.d, pe())), g.d.ld};
    p.c = p.d;
    p.beta = g.beta;
    if (g.beta != 0) p.c = {address("gemm", Area::of(g.c.matrix, c_pe)), g.c.matrix.ld};
    p.c_is_remote = g.beta != 0 && c_pe != pe();
    if (g.bias.count != 0) {
      p.bias = address("gemm", Area::of(row_of(g.bias, 0, g.bias.count), pe()));
    }
    return p;
  }

  void copy(const char* verb, const Area& dst, const Area& src);
  void multiply(const Product& product);
  void time_plans(const Product& product);
  void require_no_capture(const char* what) const;
  void require_pe(const char* verb, int pe) const;
  std::uint64_t* flag(const char* verb, const Posts& posts, std::size_t slot, int from,
                      int at) const;
  // Where the area begins, for host calls. Throws UsageError unless the PE is there, rows do not
  // overlap, and all of it lies in its window and in the heap.
  char* address(const char* verb, const Area& area) const;

  CudaWorld& world_;
  int number_;
  // The last operation was a copy: then a post is no kernel, because one that begins after a copy
  // costs several times as much. It cannot see whether the flag has been taken.
  bool copies_ = false;
};

static_assert(Queue<CudaQueue>);

}  // namespace sym::cuda
