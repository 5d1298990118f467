// How a lane says what went wrong: the first one on its PE fills the FailureRecord.
#pragma once

#include "backends/cuda/failure.hpp"
#include "backends/cuda/ptx.cuh"
#include "core/function.hpp"

namespace sym::cuda {

// What is put in the record by the first lane that fails on its PE.
struct Finding {
  FailureKind kind;
  const char* verb;
  Site site;
  std::size_t slot = 0;
  int peer = -1;
  std::uint64_t expected = 0;
  std::uint64_t seen = 0;
  const char* what = "";  // of require: what had to hold
};

namespace detail {
inline __device__ void copy_text(char* to, const char* from, int size) {
  int i = 0;
  for (; i + 1 < size && from[i] != 0; ++i) to[i] = from[i];
  to[i] = 0;
}

// Out of line: it runs at most once, and every wait would carry a copy.
inline __device__ __noinline__ void report(const KernelContext& context, Finding finding) {
  if (atomicCAS(context.failed, 0U, 1U) != 0U) return;
  FailureRecord& record = *context.record;
  record.pe = context.pe;
  record.block = static_cast<int>(blockIdx.x);
  record.peer = finding.peer;
  record.line = finding.site.line;
  record.slot = finding.slot;
  record.expected = finding.expected;
  record.seen = finding.seen;
  record.kernel = context.kernel;
  copy_text(record.verb, finding.verb, FailureRecord::verb_size);
  copy_text(record.what, finding.what, FailureRecord::what_size);
  const char* file = finding.site.file;  // the end of a long path says more than its beginning
  int length = 0;
  while (file[length] != 0) ++length;
  if (length >= FailureRecord::text_size) file += length - FailureRecord::text_size + 1;
  copy_text(record.file, file, FailureRecord::text_size);
  __threadfence_system();
  *const_cast<volatile FailureKind*>(&record.kind) = finding.kind;
}
}  // namespace detail

}  // namespace sym::cuda
