// sym calibrate on GPUs, or what is said where this build has none.
#include "core/error.hpp"
#include "experiments/sym/backends.hpp"
#include "experiments/sym/calibrate.hpp"

#if defined(SYM_HAVE_CUDA)
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "backends/cuda/probe.hpp"
#include "backends/cuda/runner.hpp"
#include "experiments/sym/calibrate_cuda.hpp"
#endif

namespace sym::command {

#if !defined(SYM_HAVE_CUDA)

int calibrate_on_cuda(const models::Machine&, int, const std::function<void(const Calibrated&)>&) {
  throw Unavailable("cuda: " + why_unavailable("cuda"));
}

#else

namespace {

// Each test takes what the slower PE takes.
void merge(std::vector<models::Sample>& samples, const std::vector<std::string>& of_pes) {
  for (const std::string& text : of_pes) {
    for (std::size_t i = 0; i < samples.size(); ++i) {
      double us = 0;
      std::memcpy(&us, text.data() + i * sizeof(us), sizeof(us));
      samples[i].us = std::max(samples[i].us, us);
    }
  }
}

void show_progress(std::size_t done, std::size_t all) {
  if (isatty(2) != 0) fmt::print(stderr, "\r{} of {} tests ", done, all);
}

Calibrated measure(cuda::CudaWorld& world, const models::Machine& base) {
  const cuda::DeviceFacts facts = cuda::device_facts(world.share().device);
  Calibrated all;
  all.device = facts.name + ", driver " + facts.driver;
  all.sms = facts.sms;
  all.compute_capability = facts.compute_capability;
  all.samples = models::calibration_tests(base, world.n_pes(), facts.sms);
  const std::size_t count = all.samples.size();
  const auto progress = [&](std::size_t done) {
    if (world.pe() == 0) show_progress(done, count);
  };
  const std::vector<double> mine = calibration_times_on_cuda(world, all.samples, progress);
  std::string packed(mine.size() * sizeof(double), '\0');
  std::memcpy(packed.data(), mine.data(), packed.size());
  merge(all.samples, world.bootstrap().all_gather(packed));
  return all;
}

}  // namespace

int calibrate_on_cuda(const models::Machine& base, int pes,
                      const std::function<void(const Calibrated&)>& done) {
  cuda::prepare_environment(pes, pes);
  if (const std::string why = cuda::why_unavailable(1, 1); !why.empty())
    throw Unavailable("cuda: " + why);
  if (pes > 1 && cuda::gpu_count() < pes) {
    throw Unavailable(
        "calibrate: the link needs two GPUs, and CUDA sees one; --local measures what one GPU has");
  }
  if (const std::string why = cuda::why_unavailable(pes, pes); !why.empty())
    throw Unavailable("cuda: " + why);
  return cuda::run_cuda(pes, pes, [&](cuda::CudaWorld& world) {
    const Calibrated all = measure(world, base);
    if (world.pe() == 0) done(all);
  });
}

#endif

}  // namespace sym::command
