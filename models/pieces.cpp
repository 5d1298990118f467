// In how many pieces shares go, how long those are, and what blocks put of them.
#include <algorithm>
#include <cmath>

#include "models/times.hpp"

namespace sym::models {

namespace {
// A granule: one access of a lane.
constexpr double access_bytes = 16;
}  // namespace

double copied_piece_us(const Machine& machine) {
  return machine.number_or("post_us", machine.number("launch_us")) +
         machine.number("copy_engine_start_us");
}

double last_piece(const Machine& machine, int pes, int pieces) {
  const double shrink = shrink_of(machine, pes);
  double all = 0, term = 1;
  for (int i = 0; i < pieces; ++i, term *= shrink) all += term;
  return std::pow(shrink, pieces - 1) / all;
}

double shrink_of(const Machine& machine, int pes) {
  if (pes < 2) return 1;
  const double reduced = (pes + 1) / machine.number("hbm_gbps");
  const double copied = (pes - 1) / machine.number("copy_engine_gbps");
  return std::min(1.0, reduced / copied);
}

int pieces_of_share(const Machine& machine, const Job& job, const std::string& variant,
                    int blocks) {
  const double share = job.bytes / job.pes;
  const double reduction_us = (job.pes + 1) * share / (machine.number("hbm_gbps") * 1e3);
  const double most = share / (access_bytes * blocks);
  if (variant != "staged") {
    // Of a put the fence before its signal.
    const double flag_us = machine.number("flag_us") + machine.number("release_us");
    return std::max(1, static_cast<int>(std::min(std::sqrt(reduction_us / flag_us), most)));
  }
  // Another piece costs less than it leaves of the reduction.
  const double piece_us = copied_piece_us(machine);
  int pieces = 1;
  while (pieces < most &&
         (last_piece(machine, job.pes, pieces) - last_piece(machine, job.pes, pieces + 1)) *
                 reduction_us >
             piece_us)
    ++pieces;
  return pieces;
}

double head_bytes(const Machine& machine, const Job& job, int blocks) {
  const double start_us =
      machine.number("copy_engine_start_us") + machine.number_or("copy_engine_turn_us", 0);
  const double gbps =
      std::min(blocks * machine.number("sm_write_gbps"), machine.number("port_gbps"));
  const double others = std::max(1, job.pes - 1);
  return std::min(job.bytes / job.pes, start_us * gbps * 1e3 / others);
}

}  // namespace sym::models
