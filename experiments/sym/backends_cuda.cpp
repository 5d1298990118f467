// Real GPUs, or what is said where this build has none.
#include "core/error.hpp"
#include "experiments/sym/backends.hpp"

#if defined(SYM_HAVE_CUDA)
#include <cstring>

#include "backends/cuda/nccl_baseline.hpp"
#include "backends/cuda/probe.hpp"
#include "backends/cuda/runner.hpp"
#endif

namespace sym::command {

#if !defined(SYM_HAVE_CUDA)

int run_on_cuda(const Algorithm&, const std::vector<Point>&, const RunOptions&,
                const std::function<void(const Point&, const Outcome&)>&) {
  throw Unavailable("cuda: " + why_unavailable("cuda"));
}

#else

namespace {

// What travels between PEs of a result; `first_wrong` travels as the rest of the string.
std::string packed(const PointResult& result) {
  PointResult numbers = result;
  std::string text(4 * sizeof(std::uint64_t), '\0');
  const std::uint64_t words[4] = {numbers.wrong, numbers.hash, 0, 0};
  std::memcpy(text.data(), words, sizeof(words));
  std::memcpy(text.data() + 2 * sizeof(std::uint64_t), &numbers.time_us, sizeof(double));
  return text + result.first_wrong;
}

PointResult unpacked(PointResult mine, const std::string& text) {
  std::uint64_t words[4];
  std::memcpy(words, text.data(), sizeof(words));
  mine.wrong = words[0];
  mine.hash = words[1];
  std::memcpy(&mine.time_us, &words[2], sizeof(double));
  mine.first_wrong = text.substr(sizeof(words));
  return mine;
}

Outcome run_one(cuda::CudaWorld& world, const Algorithm& algorithm, const Point& point) {
  const PointResult mine = algorithm.cuda(world, point);
  std::vector<PointResult> results;
  for (const std::string& text : world.bootstrap().all_gather(packed(mine)))
    results.push_back(unpacked(mine, text));
  Outcome outcome;
  outcome.result = merge(point, results);
  return outcome;
}

}  // namespace

int run_on_cuda(const Algorithm& algorithm, const std::vector<Point>& points,
                const RunOptions& options,
                const std::function<void(const Point&, const Outcome&)>& done) {
  if (points.empty()) return 0;
  const int pes = points.front().pes;
  const int gpus = options.gpus < 0 ? pes : options.gpus;
  cuda::prepare_environment(pes, gpus);
  if (const std::string why = cuda::why_unavailable(pes, gpus); !why.empty())
    throw Unavailable("cuda: " + why);
  std::size_t largest = 0;
  for (const Point& point : points) largest = std::max(largest, point.bytes);
  return cuda::run_cuda(pes, gpus, [&](cuda::CudaWorld& world) {
    std::unique_ptr<cuda::NcclBaseline> baseline;
    if (options.baseline == "nccl") baseline = std::make_unique<cuda::NcclBaseline>(world, largest);
    for (const Point& point : points) {
      Outcome outcome = run_one(world, algorithm, point);
      if (baseline != nullptr && point.bytes > 0) {
        const cuda::BaselineResult theirs =
            baseline->time(point.algorithm, point.bytes, point.dtype, point.op);
        outcome.baseline = theirs.best;
        outcome.baseline_us = theirs.best_us;
        for (const auto& time : theirs.times) {
          if (time.variant == "plain") outcome.plain_us = time.us;
          if (time.variant == "symmetric") outcome.symmetric_us = time.us;
          if (time.variant == "zero-CTA") outcome.zero_cta_us = time.us;
        }
      }
      if (world.pe() == 0) done(point, outcome);
    }
  });
}

#endif

}  // namespace sym::command
