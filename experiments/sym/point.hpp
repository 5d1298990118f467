// A point: one run of one algorithm at one size, and what came of it. Shared by all backends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace sym::command {

struct Point {
  std::string algorithm = "all_reduce";
  std::string variant = "auto";
  std::string dtype = "bf16";
  std::string op = "sum";
  std::string data = "exact";  // exact: small integers, no tolerance; random: seeded floats
  std::size_t bytes = 0;       // nccl-tests' meaning: of the whole vector that the collective names
  int pes = 1;
  int blocks = 1;
  int threads = 512;
  int iterations = 3;          // verified, each with other inputs
  int timed = 0;               // launches that are timed, after those; 0: none
  int repetitions = 5;         // of which the median counts, after one that warms up
  bool time_verified = false;  // the time is that of the last verified launch, and no other is run
  int root = 0;
  bool graph = false;
  std::uint64_t seed = 1;
  int skip_pe = -1;    // --inject skip=PE: this PE leaves out its first launch
  int shrink_pe = -1;  // --inject count=PE: this PE comes with one element less
};

struct PointResult {
  std::size_t count = 0;   // elements a PE
  std::size_t bytes = 0;   // what was run: `bytes` of the point, cut to a multiple where need be
  std::size_t wrong = 0;   // elements of this PE
  std::uint64_t hash = 0;  // of this PE's output after the last verified iteration
  double time_us = 0;      // of one launch; 0: not timed
  std::string first_wrong;
};

}  // namespace sym::command
