#include "backends/cuda/gemm.hpp"

#include "backends/cuda/cuda_check.hpp"

#ifdef SYM_HAVE_CUBLASLT

#include <cublasLt.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "backends/cuda/gemm_plain.hpp"
#include "backends/cuda/relaxed_capture.hpp"
#include "core/debug.hpp"

namespace sym::cuda {

namespace {

constexpr std::size_t workspace_bytes = std::size_t{32}
                                        << 20;  // what cuBLAS itself takes on Hopper
constexpr int most_choices = 8;

void check_lt(cublasStatus_t status, const char* call) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw Error(std::string("cuBLASLt: ") + cublasLtGetStatusString(status) + ", from " + call);
}

template <auto destroy>
struct Destroy {
  template <class P>
  void operator()(P* object) const {
    (void)destroy(object);
  }
};
using Operation = std::unique_ptr<cublasLtMatmulDescOpaque_t, Destroy<cublasLtMatmulDescDestroy>>;
using Layout = std::unique_ptr<cublasLtMatrixLayoutOpaque_t, Destroy<cublasLtMatrixLayoutDestroy>>;
using Preference =
    std::unique_ptr<cublasLtMatmulPreferenceOpaque_t, Destroy<cublasLtMatmulPreferenceDestroy>>;

cudaDataType_t data_type(NumberType type) {
  switch (type) {
    case NumberType::bf16:
      return CUDA_R_16BF;
    case NumberType::f16:
      return CUDA_R_16F;
    case NumberType::f32:
      return CUDA_R_32F;
    case NumberType::f64:
      break;
  }
  return CUDA_R_64F;
}

std::uint32_t alignment_of(const char* address) {
  const auto number = reinterpret_cast<std::uintptr_t>(address);
  return static_cast<std::uint32_t>(std::min<std::uintptr_t>(256, number & (~number + 1)));
}

// What two products must share to share a plan.
using Key = std::array<std::uint64_t, 14>;
Key key_of(const Product& p) {
  return {static_cast<std::uint64_t>(p.type),
          p.m,
          p.n,
          p.k,
          p.a.ld,
          p.b.ld,
          p.c.ld,
          p.d.ld,
          (p.beta != 0 ? 1U : 0U) + (p.bias != nullptr ? 2U : 0U) + (p.c_is_remote ? 4U : 0U) +
              (p.c.data == p.d.data ? 8U : 0U),
          alignment_of(p.a.data),
          alignment_of(p.b.data),
          alignment_of(p.c.data),
          alignment_of(p.d.data),
          p.bias == nullptr ? 0U : alignment_of(p.bias)};
}

Layout layout(cudaDataType_t type, std::size_t rows, std::size_t cols, std::size_t ld) {
  cublasLtMatrixLayout_t made = nullptr;
  check_lt(cublasLtMatrixLayoutCreate(&made, type, rows, cols, static_cast<std::int64_t>(ld)),
           "cublasLtMatrixLayoutCreate");
  return Layout(made);
}

template <class V>
void set(cublasLtMatmulDesc_t operation, cublasLtMatmulDescAttributes_t what, const V& value) {
  check_lt(cublasLtMatmulDescSetAttribute(operation, what, &value, sizeof(value)),
           "cublasLtMatmulDescSetAttribute");
}
template <class V>
void set(cublasLtMatmulPreference_t preference, cublasLtMatmulPreferenceAttributes_t what,
         const V& value) {
  check_lt(cublasLtMatmulPreferenceSetAttribute(preference, what, &value, sizeof(value)),
           "cublasLtMatmulPreferenceSetAttribute");
}

// cuBLASLt's matrices are column-major, so it is told of the transpose: d^T = b a^T + beta c^T,
// with b as a k x n matrix to be transposed, a as k x m, c and d as n x m, and the bias down a
// column.
struct Plan {
  explicit Plan(const Product& p) {
    const bool wide = p.type == NumberType::f64;
    const cudaDataType_t type = data_type(p.type);
    cublasLtMatmulDesc_t made = nullptr;
    // Never TF32: f32 must be exact on integers up to 2^24.
    check_lt(cublasLtMatmulDescCreate(&made, wide ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F,
                                      wide ? CUDA_R_64F : CUDA_R_32F),
             "cublasLtMatmulDescCreate");
    operation.reset(made);
    set(made, CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_T);
    if (p.bias != nullptr) {
      set(made, CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS);
      set(made, CUBLASLT_MATMUL_DESC_BIAS_POINTER, p.bias);
    }
    b = layout(type, p.k, p.n, p.b.ld);
    a = layout(type, p.k, p.m, p.a.ld);
    c = layout(type, p.n, p.m, p.c.ld);
    d = layout(type, p.n, p.m, p.d.ld);
  }

  Operation operation;
  Layout b, a, c, d;
  std::vector<cublasLtMatmulHeuristicResult_t> choices;  // the first one is used
  bool timed = false;
};

// For the workspace: cudaMalloc and cudaFree may wait for the whole device, and so for the kernels
// of PEs that share it; a stream that is captured would record the allocation. It lives no longer
// than the call, because hardware queues are few.
cudaError_t make_stream(cudaStream_t* stream) {
  return cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking);
}

// Where a product runs.
struct Target {
  cudaStream_t stream = nullptr;
  void* workspace = nullptr;
};

class Timer {
 public:
  Timer() {
    SYM_CHECK_CUDA(cudaEventCreate(&begin_));
    SYM_CHECK_CUDA(cudaEventCreate(&end_));
  }
  ~Timer() {
    (void)cudaEventDestroy(begin_);
    (void)cudaEventDestroy(end_);
  }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  // Milliseconds of one of `n` runs.
  template <class Run>
  double ms(cudaStream_t stream, int n, Run run) {
    SYM_CHECK_CUDA(cudaEventRecord(begin_, stream));
    for (int i = 0; i < n; ++i) run();
    SYM_CHECK_CUDA(cudaEventRecord(end_, stream));
    SYM_CHECK_CUDA(cudaStreamSynchronize(stream));
    float elapsed_ms = 0;
    SYM_CHECK_CUDA(cudaEventElapsedTime(&elapsed_ms, begin_, end_));
    return static_cast<double>(elapsed_ms) / n;
  }

 private:
  cudaEvent_t begin_ = nullptr;
  cudaEvent_t end_ = nullptr;
};

}  // namespace

struct GemmPlans::Impl {
  Impl() = default;
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    plans.clear();
    cudaStream_t stream = nullptr;
    const bool any = workspaces[0] != nullptr || workspaces[1] != nullptr;
    if (any && make_stream(&stream) == cudaSuccess) {
      for (void* workspace : workspaces) {
        if (workspace != nullptr) (void)cudaFreeAsync(workspace, stream);
      }
      (void)cudaStreamSynchronize(stream);
      (void)cudaStreamDestroy(stream);
    }
    if (handle != nullptr) (void)cublasLtDestroy(handle);
  }

  cublasLtHandle_t handle = nullptr;
  std::array<void*, 2> workspaces{};  // of products that run at once, and of captured ones
  std::map<Key, Plan> plans;

  void choose(Plan& plan, const Product& product) const;
  Plan& plan_for(const Product& product);
  void* workspace(bool captured);
  cublasStatus_t enqueue(const Plan& plan, const cublasLtMatmulAlgo_t& choice,
                         const Product& product, const Target& target) const;
};

GemmPlans::GemmPlans() : impl_(std::make_unique<Impl>()) {
  const RelaxedCapture relaxed;
  check_lt(cublasLtCreate(&impl_->handle), "cublasLtCreate");
  (void)impl_->workspace(false);
}

GemmPlans::~GemmPlans() = default;

// Made when it is first asked for.
void* GemmPlans::Impl::workspace(bool captured) {
  void*& memory = workspaces[captured ? 1 : 0];
  if (memory != nullptr) return memory;
  cudaStream_t stream = nullptr;
  SYM_CHECK_CUDA(make_stream(&stream));
  const cudaError_t status = cudaMallocAsync(&memory, workspace_bytes, stream);
  (void)cudaStreamSynchronize(stream);
  (void)cudaStreamDestroy(stream);
  SYM_CHECK_CUDA(status);
  return memory;
}

// cuBLASLt's own choices, best guess first. None that adds up partial sums in a narrow type: d is
// rounded once.
void GemmPlans::Impl::choose(Plan& plan, const Product& p) const {
  cublasLtMatmulPreference_t made = nullptr;
  check_lt(cublasLtMatmulPreferenceCreate(&made), "cublasLtMatmulPreferenceCreate");
  const Preference preference(made);
  set(made, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, workspace_bytes);
  set(made, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
      static_cast<std::uint32_t>(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE));
  set(made, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignment_of(p.b.data));
  set(made, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignment_of(p.a.data));
  set(made, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, alignment_of(p.c.data));
  set(made, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, alignment_of(p.d.data));
  std::array<cublasLtMatmulHeuristicResult_t, most_choices> found{};
  int count = 0;
  const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
      handle, plan.operation.get(), plan.b.get(), plan.a.get(), plan.c.get(), plan.d.get(), made,
      most_choices, found.data(), &count);
  const bool none = status == CUBLAS_STATUS_NOT_SUPPORTED || status == CUBLAS_STATUS_INVALID_VALUE;
  if (!none) check_lt(status, "cublasLtMatmulAlgoGetHeuristic");
  for (int i = 0; i < count && !none; ++i) {
    const cublasLtMatmulHeuristicResult_t& one = found[static_cast<std::size_t>(i)];
    if (one.state == CUBLAS_STATUS_SUCCESS && one.workspaceSize <= workspace_bytes) {
      plan.choices.push_back(one);
    }
  }
  if (plan.choices.empty()) {
    debug_info("gemm of " + std::to_string(p.m) + " x " + std::to_string(p.n) + " x " +
               std::to_string(p.k) + ": cuBLASLt has no algorithm; the plain kernel runs, slowly");
  }
}

Plan& GemmPlans::Impl::plan_for(const Product& product) {
  const Key key = key_of(product);
  const auto known = plans.find(key);
  if (known != plans.end()) return known->second;
  Plan plan(product);
  choose(plan, product);
  return plans.emplace(key, std::move(plan)).first->second;
}

cublasStatus_t GemmPlans::Impl::enqueue(const Plan& plan, const cublasLtMatmulAlgo_t& choice,
                                        const Product& p, const Target& target) const {
  const float alpha = 1;
  const double wide_alpha = 1;
  const float beta = static_cast<float>(p.beta);
  const bool wide = p.type == NumberType::f64;
  if (p.bias != nullptr) {
    set(plan.operation.get(), CUBLASLT_MATMUL_DESC_BIAS_POINTER, p.bias);
  }
  return cublasLtMatmul(
      handle, plan.operation.get(), wide ? static_cast<const void*>(&wide_alpha) : &alpha, p.b.data,
      plan.b.get(), p.a.data, plan.a.get(), wide ? static_cast<const void*>(&p.beta) : &beta,
      p.c.data, plan.c.get(), p.d.data, plan.d.get(), &choice, target.workspace, workspace_bytes,
      target.stream);
}

// A choice may still be refused, before it has enqueued anything.
void GemmPlans::run(const Product& product, CUstream_st* stream, bool captured) {
  const RelaxedCapture relaxed;
  const Target target{stream, impl_->workspace(captured)};
  const Plan& plan = impl_->plan_for(product);
  cublasStatus_t status = CUBLAS_STATUS_NOT_SUPPORTED;
  for (const cublasLtMatmulHeuristicResult_t& choice : plan.choices) {
    status = impl_->enqueue(plan, choice.algo, product, target);
    if (status != CUBLAS_STATUS_NOT_SUPPORTED && status != CUBLAS_STATUS_INVALID_VALUE) break;
  }
  const bool none = status == CUBLAS_STATUS_NOT_SUPPORTED || status == CUBLAS_STATUS_INVALID_VALUE;
  if (none) return enqueue_plain_product(product, stream);
  check_lt(status, "cublasLtMatmul");
}

void GemmPlans::time(const Product& product, CUstream_st* stream) {
  Plan& plan = impl_->plan_for(product);
  if (plan.timed) return;
  constexpr double enough_ms = 2;
  constexpr int most_runs = 10;
  (void)impl_->workspace(true);  // so that a capture need not make it
  const Target target{stream, impl_->workspace(false)};
  Timer timer;
  std::vector<std::pair<double, cublasLtMatmulHeuristicResult_t>> times;
  for (const cublasLtMatmulHeuristicResult_t& choice : plan.choices) {
    cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
    const auto once = [&] {
      const cublasStatus_t now = impl_->enqueue(plan, choice.algo, product, target);
      if (now != CUBLAS_STATUS_SUCCESS) status = now;
    };
    (void)timer.ms(stream, 1, once);  // loads its kernels
    if (status != CUBLAS_STATUS_SUCCESS) continue;
    const double first_ms = timer.ms(stream, 1, once);
    const double runs = enough_ms / std::max(first_ms, 1e-3);
    const int n = std::clamp(static_cast<int>(runs), 1, most_runs);
    times.emplace_back(timer.ms(stream, n, once), choice);
  }
  if (times.empty()) {
    plan.choices.clear();
    enqueue_plain_product(product, stream);  // loads it
  } else {
    const auto best = std::min_element(
        times.begin(), times.end(), [](const auto& x, const auto& y) { return x.first < y.first; });
    plan.choices.assign(1, best->second);
  }
  plan.timed = true;
}

}  // namespace sym::cuda

#else

namespace sym::cuda {

struct GemmPlans::Impl {};

GemmPlans::GemmPlans() {
  throw Unavailable("gemm: this build has no cuBLASLt (it comes with the CUDA toolkit)");
}
GemmPlans::~GemmPlans() = default;
void GemmPlans::run(const Product&, CUstream_st*, bool) {}
void GemmPlans::time(const Product&, CUstream_st*) {}

}  // namespace sym::cuda

#endif
