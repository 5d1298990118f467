// What NCCL itself needs for the same collective on the same PEs: what our numbers are compared
// with.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "backends/cuda/cuda_world.hpp"

namespace sym::cuda {

struct BaselineTime {
  std::string variant;   // "plain", "symmetric", "zero-CTA"
  double us = 0;         // one call: the slowest PE's median
  bool in_graph = true;  // else launched one by one
};

struct BaselineResult {
  std::vector<BaselineTime> times;  // variants that ran
  std::string best;                 // the fastest variant's name
  double best_us = 0;
};

// How much to measure; 0 chooses by size.
struct BaselineEffort {
  int calls_per_graph = 0;
  int replays = 0;
  int repetitions = 7;
};

// Owns its communicators and buffers. All members are collective.
class NcclBaseline {
 public:
  // Buffers for messages up to `largest_bytes`. Throws Unavailable where several PEs share a GPU,
  // which NCCL refuses. `world` must outlive it.
  NcclBaseline(CudaWorld& world, std::size_t largest_bytes);
  ~NcclBaseline();
  NcclBaseline(const NcclBaseline&) = delete;
  NcclBaseline& operator=(const NcclBaseline&) = delete;

  // A kernel behind each call, in the same graph.
  struct Norm {
    std::size_t rows = 0;  // 0: none
    std::size_t hidden = 0;
    bool residual = false;
  };

  // call: all_reduce, all_gather, reduce_scatter, all_to_all or broadcast. type: bf16, f16, f32,
  // f64, i32, i64, u8. op: sum, prod, max, min, avg. `bytes` is the size that nccl-tests reports:
  // the whole message, for all_gather the output and for reduce_scatter the input. Unknown names:
  // UsageError.
  BaselineResult time(const std::string& call, std::size_t bytes, const std::string& type,
                      const std::string& op, BaselineEffort effort = {});
  // Its all_reduce (sum) of rows x hidden elements, and behind it bias, residual and RMSNorm in one
  // kernel (rms_norm_plain).
  BaselineResult time_rms_norm(const Norm& norm, const std::string& type,
                               BaselineEffort effort = {});

 private:
  struct Call;
  struct Impl;
  BaselineResult time_call(const Call& call, std::size_t bytes, BaselineEffort effort);
  std::unique_ptr<Impl> impl_;
};

}  // namespace sym::cuda
