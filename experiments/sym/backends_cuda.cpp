// Real GPUs, or what is said where this build has none.
#include "core/error.hpp"
#include "experiments/sym/backends.hpp"

#if defined(SYM_HAVE_CUDA)
#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>

#include "backends/cuda/nccl_baseline.hpp"
#include "backends/cuda/probe.hpp"
#include "backends/cuda/runner.hpp"
#include "experiments/sym/dtypes.hpp"
#include "experiments/sym/run_nccl.hpp"
#endif

namespace sym::command {

#if !defined(SYM_HAVE_CUDA)

int run_on_cuda(const Algorithm&, const std::vector<Point>&, const RunOptions&,
                const std::function<void(const Point&, const Outcome&)>&) {
  throw Unavailable("cuda: " + why_unavailable("cuda"));
}

#else

namespace {

// What travels between PEs of a result: numbers, then two strings, the first with its length.
std::string packed(const PointResult& result) {
  std::vector<std::uint64_t> words{result.wrong, result.hash, result.first_wrong.size(),
                                   std::bit_cast<std::uint64_t>(result.time_us)};
  for_each_measure(result.measures, [&](const char*, double value) {
    words.push_back(std::bit_cast<std::uint64_t>(value));
  });
  std::string text(words.size() * sizeof(std::uint64_t), '\0');
  std::memcpy(text.data(), words.data(), text.size());
  return text + result.first_wrong + result.failure;
}

PointResult unpacked(PointResult mine, const std::string& text) {
  std::size_t at = 0;
  const auto next = [&] {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + at, sizeof(word));
    at += sizeof(word);
    return word;
  };
  mine.wrong = next();
  mine.hash = next();
  const std::uint64_t length = next();
  mine.time_us = std::bit_cast<double>(next());
  for_each_measure(mine.measures,
                   [&](const char*, double& value) { value = std::bit_cast<double>(next()); });
  mine.first_wrong = text.substr(at, length);
  mine.failure = text.substr(at + length);
  return mine;
}

PointResult run_point_on(cuda::CudaWorld& world, const Algorithm& algorithm, const Point& point) {
  if (point.variant != nccl_variant) return algorithm.cuda(world, point);
  return with_dtype(point.dtype, [&]<class T>() { return NcclRun<T>(world, point).run(); });
}

Outcome run_one(cuda::CudaWorld& world, const Algorithm& algorithm, const Point& point) {
  const PointResult mine = run_point_on(world, algorithm, point);
  std::vector<PointResult> results;
  for (const std::string& text : world.bootstrap().all_gather(packed(mine)))
    results.push_back(unpacked(mine, text));
  Outcome outcome;
  outcome.result = merge(algorithm, results);
  add_failure(outcome);
  return outcome;
}

// What NCCL would do for a point: the collective and its size, in the meaning of nccl-tests.
struct NcclCall {
  std::string name;
  std::size_t bytes = 0;
};

// Of all_reduce_rms_norm the all-reduce, with the rest behind it; of tile_reduce the reduce_scatter
// of as many bytes, which are contiguous. For a product: gather the operand that moves, or scatter
// the sums of the partial products; no collective of NCCL stands for other schedules.
NcclCall nccl_call(const Algorithm& algorithm, const Point& point) {
  if (algorithm.has_bound) return {point.algorithm, point.bytes};
  if (point.tile.rows != 0)
    return {"reduce_scatter", point.tile.rows * point.tile.cols * dtype_bytes(point.dtype)};
  if (algorithm.family.normalises) return {"all_reduce", point.bytes};
  const GemmPoint& g = point.gemm;
  const std::size_t element = dtype_bytes(point.dtype);
  const std::string& schedule = point.variant;
  if (g.m == 0) return {};
  if (schedule == "ag_a") return {"all_gather", g.m * g.k * element};
  if (schedule == "ag_b") return {"all_gather", g.n * g.k * element};
  if (schedule == "rs_a" || schedule == "rs_b") return {"reduce_scatter", g.m * g.n * element};
  return {};
}

// For a product, the unsplit local one comes on top of the collective.
void add_baseline(Outcome& outcome, const Point& point, const cuda::BaselineResult& theirs) {
  const double product_us = outcome.result.measures.pure_us;
  if (point.gemm.m != 0 && product_us == 0) return;
  outcome.baseline = theirs.best;
  outcome.baseline_us = theirs.best_us + product_us;
  for (const auto& time : theirs.times) {
    const double us = time.us + product_us;
    if (time.variant == "plain") outcome.plain_us = us;
    if (time.variant == "symmetric") outcome.symmetric_us = us;
    if (time.variant == "zero-CTA") outcome.zero_cta_us = us;
  }
}

// What --wait-ms says is said to every process of the job as its environment says it.
void set_wait(const RunOptions& options) {
  const auto& given = options.given;
  if (std::find(given.begin(), given.end(), "--wait-ms") != given.end())
    setenv("SYM_WAIT_MS", std::to_string(options.wait_ms).c_str(), 1);
}

// The heap that the points need, unless somebody has said its size: the default is for small ones.
void want_heap(const std::vector<Point>& points) {
  constexpr std::size_t usual = std::size_t{3} << 30;
  std::size_t most = 0;
  for (const Point& point : points) most = std::max(most, point.heap_bytes);
  if (most > usual) setenv("SYM_HEAP", std::to_string(most + usual / 3).c_str(), 0);
}

}  // namespace

int run_on_cuda(const Algorithm& algorithm, const std::vector<Point>& points,
                const RunOptions& options,
                const std::function<void(const Point&, const Outcome&)>& done) {
  if (points.empty()) return 0;
  want_heap(points);
  set_wait(options);
  const int pes = points.front().pes;
  const int gpus = options.gpus < 0 ? pes : options.gpus;
  cuda::prepare_environment(pes, gpus);
  if (const std::string why = cuda::why_unavailable(pes, gpus); !why.empty())
    throw Unavailable("cuda: " + why);
  std::size_t largest = 0;
  for (const Point& point : points) largest = std::max(largest, nccl_call(algorithm, point).bytes);
  return cuda::run_cuda(pes, gpus, [&](cuda::CudaWorld& world) {
    std::unique_ptr<cuda::NcclBaseline> baseline;
    if (options.baseline == "nccl" && largest > 0)
      baseline = std::make_unique<cuda::NcclBaseline>(world, largest);
    for (const Point& point : points) {
      Outcome outcome = run_one(world, algorithm, point);
      const NcclCall call = nccl_call(algorithm, point);
      if (baseline != nullptr && call.bytes > 0 && outcome.result.failure.empty()) {
        add_baseline(outcome, point,
                     algorithm.family.normalises
                         ? baseline->time_rms_norm(
                               {point.moe.tokens, point.moe.hidden, point.residual}, point.dtype)
                         : baseline->time(call.name, call.bytes, point.dtype, point.op));
      }
      if (world.pe() == 0) done(point, outcome);
    }
  });
}

#endif

}  // namespace sym::command
