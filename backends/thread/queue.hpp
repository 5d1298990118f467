// ThreadQueue: a stream of a thread world as a Queue. An operation is a function that the stream's
// thread calls; where it names memory, the addresses were taken, and checked, when it was enqueued.
#pragma once

#include <functional>
#include <string>

#include "backends/host/gemm.hpp"
#include "backends/thread/block.hpp"
#include "backends/thread/streams.hpp"
#include "core/queue.hpp"

namespace sym::thread {

// One PE, as its blocks and queues see it.
struct PeState {
  PeState(Shared& all, int number) : shared(all), pe(number) {}
  // Throws Failure with the verdict once something of this PE has failed.
  void throw_verdict();
  // The PE has failed: operations are dropped from here on, and the host is told why.
  void fail(const std::string& reason);

  Shared& shared;
  int pe;
  Verdict verdict;
  std::atomic<bool> failed{false};
  Streams streams;
};

class ThreadQueue {
 public:
  ThreadQueue(PeState& state, int number) : state_(state), number_(number) {}
  int pe() const { return state_.pe; }
  int n_pes() const { return state_.shared.options.pes; }

  template <class T>
  void put(Matrix<T> dst, Matrix<T> src, int pe) {
    copy("put", At<T>{dst, pe}, At<T>{src, state_.pe});
  }
  template <class T>
  void get(Matrix<T> dst, Matrix<T> src, int pe) {
    copy("get", At<T>{dst, state_.pe}, At<T>{src, pe});
  }
  template <class Kernel>
  void launch(const LaunchConfig& config, Kernel kernel) {
    begin(config, [kernel](ThreadBlock& block) { kernel(block); });
  }
  template <class T>
  void gemm(const Gemm<T>& g);
  // There is nothing to choose from here: the arguments are checked.
  template <class T>
  void prepare(const Gemm<T>& g);
  void post(const Posts& posts, std::size_t slot, int pe, Site site = Site::here());
  void take(const Posts& posts, std::size_t slot, int pe, Site site = Site::here());
  Mark record();
  void after(Mark mark);

 private:
  void begin(const LaunchConfig& config, std::function<void(ThreadBlock&)> body);
  // Enqueues what is dropped once the PE has failed.
  void enqueue(std::string name, std::function<void()> operation);
  void expired(const std::string& what, Site site);
  void require_pe(const char* name, int pe) const;
  std::uint64_t* flag(const char* name, const Posts& posts, std::size_t slot, int from, int at);
  std::byte* bytes_at(const char* name, std::size_t offset, std::size_t bytes, int pe) const;
  // Where elements [0, n) of the window lie on `pe`.
  template <class T>
  T* address(const char* name, Window<T> window, std::size_t n, int pe) const {
    return reinterpret_cast<T*>(bytes_at(name, window.offset_bytes, n * sizeof(T), pe));
  }
  template <class T>
  void copy(const char* name, At<T> dst, At<T> src);
  template <class T>
  host::Product<T> product(const Gemm<T>& g) const;

  PeState& state_;
  int number_;
};

// Throws UsageError unless the shapes are equal and each fits its window.
template <class T>
void require_copy(const char* name, const Matrix<T>& dst, const Matrix<T>& src) {
  const auto shape = [](const Matrix<T>& m) {
    return std::to_string(m.rows) + " x " + std::to_string(m.cols);
  };
  if (dst.rows != src.rows || dst.cols != src.cols) {
    throw UsageError(std::string(name) + ": the destination is " + shape(dst) + ", the source is " +
                     shape(src) + "; shapes must be equal");
  }
  for (const Matrix<T>& m : {dst, src}) {
    if (m.ld >= m.cols && m.span() <= m.data.count) continue;
    throw UsageError(std::string(name) + ": a matrix of " + shape(m) + " with " +
                     std::to_string(m.ld) + " elements from row to row in a window of " +
                     std::to_string(m.data.count));
  }
}

template <class T>
void ThreadQueue::copy(const char* name, At<T> dst, At<T> src) {
  require_pe(name, dst.pe);
  require_pe(name, src.pe);
  require_copy(name, dst.matrix, src.matrix);
  T* to = address(name, dst.matrix.data, dst.matrix.span(), dst.pe);
  const T* from = address(name, src.matrix.data, src.matrix.span(), src.pe);
  if (dst.matrix.span() == 0) return;
  for (std::size_t row = 0; row < dst.matrix.rows; ++row) {
    const T* there = to + row * dst.matrix.ld;
    const T* here = from + row * src.matrix.ld;
    if (there == here || there + dst.matrix.cols <= here || here + dst.matrix.cols <= there)
      continue;
    throw UsageError(
        std::string(name) + ": row " + std::to_string(row) +
        " of the destination overlaps that of the source; both must be the same, or apart");
  }
  enqueue(name, [to, from, d = dst.matrix, s = src.matrix] {
    for (std::size_t row = 0; row < d.rows; ++row) {
      T* there = to + row * d.ld;
      const T* here = from + row * s.ld;
      if (there != here) std::memmove(there, here, d.cols * sizeof(T));
    }
  });
}

// The operands' addresses, after all checks.
template <class T>
host::Product<T> ThreadQueue::product(const Gemm<T>& g) const {
  require_shapes(g, pe());
  host::require_gemm();
  const int here = state_.pe;
  const auto at = [&](const Matrix<T>& m, int pe) {
    return host::Block2d<const T>{address("gemm", m.data, m.span(), pe), m.ld};
  };
  host::Product<T> p;
  p.m = g.a.rows;
  p.n = g.b.rows;
  p.k = g.a.cols;
  p.a = at(g.a, here);
  p.b = at(g.b, here);
  p.d = {address("gemm", g.d.data, g.d.span(), here), g.d.ld};
  p.beta = g.beta;
  if (g.beta != 0) {
    const int pe = g.c.pe == -1 ? here : g.c.pe;
    require_pe("gemm", pe);
    p.c = at(g.c.matrix, pe);
  }
  if (g.bias.count != 0) p.bias = address("gemm", g.bias, g.bias.count, here);
  return p;
}

template <class T>
void ThreadQueue::gemm(const Gemm<T>& g) {
  enqueue("gemm", [p = product(g)] { host::multiply(p); });
}

template <class T>
void ThreadQueue::prepare(const Gemm<T>& g) {
  if (state_.streams.capturing()) throw UsageError("prepare: not while capturing; prepare before");
  (void)product(g);
}

static_assert(Queue<ThreadQueue>);

}  // namespace sym::thread
