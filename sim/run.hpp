// run_sim: a host program on a simulated machine.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "backends/fiber/world.hpp"
#include "models/machine.hpp"
#include "sim/disturbance.hpp"
#include "sim/trail.hpp"

namespace sym::sim {

struct SimOptions {
  models::Machine machine;
  int pes = 1;
  std::string network = "simgrid";  // simgrid | ports
  int fibres = 1;                   // of a symmetric launch; 0: as many as it has blocks
  bool data = true;                 // false: payload has no storage, only time is simulated
  bool check = false;               // also look for races
  Disturbance disturbance = {};
  std::vector<int> placement = {};  // the GPU of each PE; see parse_placement
  bool explain = false;             // fill SimReport::explanation and links
  std::string trace = {};           // a file for the timeline; empty: none
};

struct SimReport {
  std::vector<fiber::Finding> findings;
  std::uint64_t flows = 0;
  std::uint64_t switches = 0;
  int nic_window = 1;
  double end_us = 0;
  std::vector<std::string> explanation = {};
  std::vector<Trail::Stretch> path = {};  // the critical one
  std::vector<LinkLoad> links = {};
};

// Runs `program` on every PE. With network "simgrid" at most once in a process: use run_in_child.
SimReport run_sim(const SimOptions& options,
                  const std::function<void(fiber::FiberWorld&)>& program);

}  // namespace sym::sim
