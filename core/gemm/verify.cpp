#include "core/gemm/verify.hpp"

#include "core/gemm/rehearsal.hpp"

namespace sym::gemm {

namespace {
std::string text_of(const Volume& volume) {
  return std::to_string(volume.a) + " elements of A, " + std::to_string(volume.b) + " of B, " +
         std::to_string(volume.c) + " of C";
}
}  // namespace

std::vector<std::string> check_plan(const Plan& plan) {
  std::vector<std::string> found = rehearse(plan, 2);
  if (!plan.schedule.received || plan.options.max_buffers != 0) return found;
  for (int rank = 0; rank < plan.pes; ++rank) {
    const Volume derived = received(plan, rank);
    const Volume closed = plan.schedule.received(plan.tiling, rank);
    if (derived == closed) continue;
    found.push_back("rank " + std::to_string(rank) + " receives " + text_of(derived) +
                    "; the schedule's closed form says " + text_of(closed));
    break;
  }
  return found;
}

std::vector<std::string> verify(const Schedule& schedule, const Tiling& tiling,
                                const PlanOptions& options) {
  std::vector<std::string> found = check_schedule(schedule);
  if (!found.empty()) return found;
  return check_plan(derive(schedule, tiling, options));
}

}  // namespace sym::gemm
