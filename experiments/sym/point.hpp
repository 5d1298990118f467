// A point: one run of one algorithm at one size, and what came of it. Shared by all backends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/launch.hpp"

namespace sym::command {

// What all_to_all_v and the MoE exchange need beside what every point has.
struct MoePoint {
  std::size_t tokens = 0;  // rows a PE has at most
  std::size_t hidden = 0;  // elements of a row
  int experts = 0;
  int topk = 0;
  std::size_t capacity = 0;  // rows a PE can receive; 0: the worst case
  std::size_t alignment = 1;
  std::string routing;  // uniform, one_expert or skewed; empty for all_to_all_v
  std::string splits;   // uniform, primes, zero or one_peer; empty for MoE
  std::string inject;   // bad_id, nan_weight or overflow: a fault that the device must detect
};

// What the distributed product needs; the schedule is the point's variant.
struct GemmPoint {
  std::size_t m = 0, n = 0, k = 0;
  int grid_rows = 0, grid_cols = 0;  // 0: the schedule's own choice
  double beta = 0;
  bool bias = false;
  int max_buffers = 0;          // 0: as many as the schedule likes
  bool with_reference = false;  // time the product of one GPU as well
};

// What tile_reduce needs: a matrix, and the tiles that it is cut to; those at its edges are
// smaller.
struct TilePoint {
  std::size_t rows = 0, cols = 0;
  std::size_t tile_rows = 1, tile_cols = 1;
};

struct Point {
  std::string algorithm = "all_reduce";
  std::string variant = "auto";
  std::string dtype = "bf16";
  std::string op = "sum";
  std::string flavour;         // "nccl:ring/LL128": with whose constants it is simulated
  std::string data = "exact";  // exact: small integers, no tolerance; random: seeded floats
  std::size_t bytes = 0;       // nccl-tests' meaning: of the whole vector that the collective names
  std::size_t heap_bytes = 0;  // symmetric memory that it needs, about; 0: little
  int pes = 1;
  int gpus_per_node = 1;       // of the machine that the row is about
  int per_node = 1;            // PEs that algorithms in two levels take for a node
  int pieces = 1;              // that algorithms with pipelines cut a part into
  std::size_t head_bytes = 0;  // of each part, that blocks put beside the copy engine
  double shrink = 1;           // of `staged`: how long a piece is beside the one before
  int blocks = 1;
  int threads = most_threads;
  int iterations = 3;          // verified, each with other inputs
  int timed = 0;               // launches that are timed, after those; 0: none
  int repetitions = 5;         // of which the median counts, after one that warms up
  int replays = 10;            // of a graph of `timed` launches, in each repetition on GPUs
  bool time_verified = false;  // the time is that of the last verified launch, and no other is run
  int root = 0;
  bool graph = false;
  std::uint64_t seed = 1;
  std::vector<std::string> choice{};  // why this variant, in lines; empty: nobody asks
  int skip_pe = -1;                   // --inject skip=PE: this PE leaves out its first launch
  int shrink_pe = -1;                 // --inject count=PE: this PE comes with one element less
  MoePoint moe;
  GemmPoint gemm;
  TilePoint tile;
  // Two collectives at once (sim): one has prepared all and hands its launch, on its own stream,
  // over to the other, which makes both launches at one time.
  int stream = 0;
  std::function<void(const std::function<void()>& launch)> hand_over{};
  std::function<void()> launch_too{};
  bool residual = false;  // all_reduce_rms_norm: one is added, and gets the sum
};

// What only some families have to tell. 0: not measured.
struct Measures {
  double dispatch_us = 0, combine_us = 0;  // each alone
  double remote_bytes = 0;      // that a PE sends to (gemm: gets from) its peers, once through
  double remote_bytes_max = 0;  // ... the PE with most of them
  // Of a PE with its node's others, and with other nodes: sent or received, whichever is more.
  double link_bytes_max = 0, nic_bytes_max = 0;
  double duplicates = 0;  // copies of a token beyond its first to the same peer, over all PEs
  double pure_us = 0;     // one PE's share of the product as one local product
  double stages_us = 0;   // ... and as the local products of the schedule's stages, added up
};

struct PointResult {
  std::size_t count = 0;   // elements a PE
  std::size_t bytes = 0;   // what was run: `bytes` of the point, cut to a multiple where need be
  std::size_t wrong = 0;   // elements of this PE
  std::uint64_t hash = 0;  // of this PE's output after the last verified iteration
  double time_us = 0;      // of one launch; 0: not timed
  std::string first_wrong;
  std::string failure;  // what every PE refused, if they did: the World has recovered
  Measures measures;
};

// Calls f(name, number) for each measure: how results travel between processes.
template <class M, class F>
void for_each_measure(M& measures, F f) {
  f("dispatch_us", measures.dispatch_us);
  f("combine_us", measures.combine_us);
  f("remote_bytes", measures.remote_bytes);
  f("remote_bytes_max", measures.remote_bytes_max);
  f("link_bytes_max", measures.link_bytes_max);
  f("nic_bytes_max", measures.nic_bytes_max);
  f("duplicates", measures.duplicates);
  f("pure_us", measures.pure_us);
  f("stages_us", measures.stages_us);
}

}  // namespace sym::command
