// From point-to-point measurements to a machine's numbers: which tests there are, and what follows
// from their times. Pure functions; experiments/sym/calibrate_run.hpp measures.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "models/calibration.hpp"
#include "models/machine.hpp"

namespace sym::models {

// What one launch (or a few operations of queues) does. "one": PE 0 moves bytes, and nothing else
// does; "both": the PEs meet, and move as many bytes each way. Names are those of probe_name().
enum class Probe {
  launch,       // nothing
  sync,         // `rounds` syncs
  load,         // `rounds` loads, each of which needs the one before it
  slots,        // `rounds` sums of this PE's memory, as it lies in slots
  packets,      // `rounds` messages each way of 16 bytes in packets, reduced
  exchange,     // one, of more
  meet,         // `rounds` meetings of both PEs' blocks
  meet_early,   // ... and the launch is set up early
  meet_local,   // a meeting, a copy within the PE, a meeting
  meet_put,     // ... a put to the peer
  meet_reduce,  // ... a sum of both PEs' windows
  put_one,
  put_both,
  get_one,
  reduce_one,  // of both PEs' windows
  reduce_both,
  local_copy,  // by blocks
  copy_one,    // from here on by the copy engine, one behind the other
  copy_both,
  launch_copy,  // an empty launch, then a copy by another queue that waits for it, and back
  copy_flag     // the same by both PEs, and in place of the way back a flag to the peer's queue
};
const std::string& probe_name(Probe probe);

struct Sample {
  Probe probe = Probe::launch;
  std::size_t bytes = 0;  // that a PE moves
  int blocks = 1;
  int rounds = 1;
  double us = 0;  // of one launch, on the slower PE; 0: not measured yet
};

// What to measure. `pes` 1: nothing that needs a peer; else 2. `sms` bounds the blocks, `base` says
// how large a pass of packets is.
std::vector<Sample> calibration_tests(const Machine& base, int pes, int sms);

struct Fitted {
  double value = 0;
  FitQuality quality;
};

// The numbers that follow from the samples, by key. A number that the samples do not show (one that
// would not be above 0, or is lost in the error) is left out. `base` stands in for what a number is
// taken from and is not measured.
std::map<std::string, Fitted> fit_numbers(const std::vector<Sample>& samples, const Machine& base);

// `base` with these numbers, and with `about` (less its fits, which it gets here). Numbers that
// were not measured keep their value and their mark, and their source says so. `measured` is the
// mark of the others: a simulation measures nothing.
Machine calibrated(const Machine& base, const std::map<std::string, Fitted>& numbers,
                   const Calibration& about, const std::string& name);

// probe,bytes,blocks,rounds,us
std::string samples_csv(const std::vector<Sample>& samples);

}  // namespace sym::models
