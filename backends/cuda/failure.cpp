#include "backends/cuda/failure.hpp"

#include <cstdio>

namespace sym::cuda {

std::string verdict(const FailureRecord& record, double wait_limit_ms) {
  const auto number = [](auto value) { return std::to_string(value); };
  std::string text = "PE " + number(record.pe) + ", block " + number(record.block) + " of '" +
                     (record.kernel != nullptr ? record.kernel : "kernel") + "': " + record.verb +
                     " at " + record.file + ":" + number(record.line);
  const std::string from = record.peer >= 0 ? " from PE " + number(record.peer) : std::string();
  switch (record.kind) {
    case FailureKind::expired: {
      char limit[32];
      std::snprintf(limit, sizeof(limit), "%g", wait_limit_ms);
      return text + " expired after " + limit + " ms (SYM_WAIT_MS): slot " + number(record.slot) +
             from + ", expected " + number(record.expected) + ", seen " + number(record.seen);
    }
    case FailureKind::mismatch:
      return text + " found another operation: slot " + number(record.slot) + from +
             ", expected tag " + number(record.expected) + ", seen tag " + number(record.seen) +
             " (operation, count, type or grid differ between the PEs)";
    case FailureKind::busy:
      return text + ": channel busy, another launch holds row " + number(record.slot) +
             " (one operation at a time may use a channel)";
    case FailureKind::refused:
      if (record.what[0] != 0) {
        return text + from + ": REFUSED " + record.what + ": " + number(record.seen) + " against " +
               number(record.expected);
      }
      return text + " was given an argument out of bounds: peer " + number(record.peer) +
             ", first " + number(record.slot) + ", end " + number(record.seen) + " of " +
             number(record.expected);
    case FailureKind::none:
      break;
  }
  return text + " failed";
}

}  // namespace sym::cuda
