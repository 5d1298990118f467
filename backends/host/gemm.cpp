#include "backends/host/gemm.hpp"

#include "core/error.hpp"

#if defined(SYM_HAVE_EIGEN)
#include <Eigen/Core>
#endif

namespace sym::host {

#if defined(SYM_HAVE_EIGEN)

namespace {
template <class A>
using RowMajor = Eigen::Matrix<A, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

template <class T>
RowMajor<Accumulator<T>> widened(const Block2d<const T>& from, std::size_t rows, std::size_t cols) {
  RowMajor<Accumulator<T>> to(static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(cols));
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t col = 0; col < cols; ++col) {
      to(static_cast<Eigen::Index>(row), static_cast<Eigen::Index>(col)) =
          widen(from.data[row * from.ld + col]);
    }
  }
  return to;
}
}  // namespace

void require_gemm() {}

template <class T>
void multiply(const Product<T>& p) {
  using A = Accumulator<T>;
  RowMajor<A> total = widened<T>(p.a, p.m, p.k) * widened<T>(p.b, p.n, p.k).transpose();
  const A beta = static_cast<A>(p.beta);
  for (std::size_t row = 0; row < p.m; ++row) {
    for (std::size_t col = 0; col < p.n; ++col) {
      A value = total(static_cast<Eigen::Index>(row), static_cast<Eigen::Index>(col));
      if (p.beta != 0) value += beta * widen(p.c.data[row * p.c.ld + col]);
      if (p.bias != nullptr) value += widen(p.bias[col]);
      p.d.data[row * p.d.ld + col] = narrow<T>(value);
    }
  }
}

#else

void require_gemm() {
  throw Unavailable("gemm: this build has no Eigen; install libeigen3-dev and build again");
}

template <class T>
void multiply(const Product<T>&) {
  require_gemm();
}

#endif

template void multiply(const Product<bf16>&);
template void multiply(const Product<f16>&);
template void multiply(const Product<float>&);
template void multiply(const Product<double>&);

}  // namespace sym::host
