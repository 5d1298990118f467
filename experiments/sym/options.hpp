// What the command line says, as values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sym::command {

// What only the simulator takes.
struct SimRunOptions {
  std::string disturb;    // what --inject says of the machine
  std::string jitter;     // lognormal:SIGMA; empty: none
  std::string placement;  // empty: packed
  int runs = 1;           // of one point with jitter
  double band = 0;        // percent by which assumed numbers may be wrong; 0: not asked
  bool explain = false;
  std::string trace;       // a file
  std::string concurrent;  // ALGORITHM[:VARIANT[:BYTES]]; see concurrent.hpp
};

struct RunOptions {
  std::string algorithm;
  std::vector<std::string> given{};  // the options that were typed, by name
  std::string backend = "check";
  std::vector<int> pes{};  // empty: the machine's GPUs in sim, else 2
  std::vector<std::size_t> sizes{1024};
  std::string dtype = "bf16";
  std::string op = "sum";
  std::string variant = "auto";
  std::string machine;  // empty: h200x2 (sim needs it named); sim: several, see machine_list()
  std::string what_if;  // changes of its numbers
  std::string flavour;  // sim: "nccl", or with ":ALGORITHM[/PROTOCOL]"; empty: ours
  int blocks = 0;       // 0: by size
  int threads = 0;      // 0: by size
  int iterations = 0;   // verified; 0: 3 (1 in sim)
  int timed = 20;
  bool graph = false;
  bool verify = true;
  std::string baseline;
  std::uint64_t seed = 1;
  std::string schedule = "worst";
  std::vector<std::string> knobs;  // of the checker's schedules; empty: all
  int runs = 1;
  // check: budgets, and what single schedules need. 0 and -1: the checker's own limit, or none.
  int depth = 2;
  std::uint64_t pct_steps = 0;  // how long a run of pct is, once one has run
  int bound = -1;
  std::uint64_t most_steps = 0;
  double most_seconds = 0;
  int resident = 0;
  std::vector<std::uint32_t> decisions{};  // of an earlier run, to be taken again; see CheckOptions
  bool exact_replay = true;
  std::string findings, sarif, suppress;  // files
  bool check = false;
  bool no_data = false;
  std::string network;  // empty: by the number of PEs
  bool blocks_exact = false;
  SimRunOptions sim;
  std::string data = "exact";
  int root = 0;
  int per_node = 0;     // 0: by the machine
  int pieces = 0;       // 0: by the machine's numbers
  long long head = -1;  // bytes; -1: by the machine's numbers
  int gpus = -1;        // -1: one a PE
  int wait_ms = 10000;
  std::string inject;
  // all_to_all_v and the MoE exchange
  std::vector<std::size_t> tokens{64};
  std::size_t hidden = 64;  // elements of a row
  int experts = 16;
  int topk = 4;
  std::size_t capacity = 0;  // rows; 0: the worst case
  std::size_t alignment = 1;
  std::vector<std::string> routing{"uniform"};
  std::vector<std::string> splits{"uniform"};
  // gemm
  std::size_t m = 512, n = 512, k = 512;
  std::vector<std::string> gemm_schedules;  // empty: all on check, ag_a elsewhere
  std::string grid;
  double beta = 0;
  bool bias = false;
  int max_buffers = 0;
  // all_reduce_rms_norm, which takes tokens and hidden as well
  bool residual = false;
  // tile_reduce
  std::size_t rows = 256, cols = 256;
  std::vector<std::string> tiles{"128x128"};
  std::string csv, json, replay_file;
  bool coverage = false;
};

// "4K" -> 4096; K, M, G are powers of 1024. Throws UsageError.
std::size_t parse_size(const std::string& text);
// "0,2,16K", "1K:64M" (doubling), "1K:1G:x4"; in the order given.
std::vector<std::size_t> parse_sizes(const std::string& text);
// "a,b": the parts, empty ones included.
std::vector<std::string> comma_separated(const std::string& text);
// Throws UsageError with the nearest of `names` unless `name` is one of them.
void require_name(const std::string& what, const std::string& name,
                  const std::vector<std::string>& names);
const std::vector<std::string>& op_names();
std::vector<int> parse_counts(const std::string& text, const std::string& option);
// "64M" for 67108864: the inverse, where it is exact.
std::string format_size(std::size_t bytes);

// Threads of a block on GPUs: fewer for small messages, where every warp of a block costs time to
// meet.
int threads_for(std::size_t bytes);
// Blocks of a launch that moves `bytes`: one 16-byte access a lane while that gives no more than
// `most` blocks.
int blocks_for(std::size_t bytes, int threads, int most);

}  // namespace sym::command
