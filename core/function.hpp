// Execution-space markers: the only file of core/ that knows that a GPU compiler exists.
//
// SYM_HD  values and pure functions: usable on host and device.
// SYM_FN  code that calls verbs of a block. Under nvcc it is device code only, because a `.cu` file
//         stamps GPU instances and `.cpp` files stamp host ones (never both in one translation
//         unit).
// SYM_ON_HOST(code)  of a function for both: what its host side does besides. Kernels cannot throw.
#pragma once

#if defined(__CUDACC__)
#define SYM_HD __host__ __device__
#define SYM_FN __device__
#else
#define SYM_HD
#define SYM_FN
#endif

#if defined(__CUDA_ARCH__)
#define SYM_ON_HOST(...)
#else
#define SYM_ON_HOST(...) __VA_ARGS__
#endif

namespace sym {

// Source position of a verb's call, captured by a default argument at the call site.
struct Site {
  const char* file = "";
  int line = 0;

  SYM_HD static constexpr Site here(const char* file = __builtin_FILE(),
                                    int line = __builtin_LINE()) {
    return Site{file, line};
  }
};

}  // namespace sym
