// Words that several programs print.
#pragma once

#include <cstdint>
#include <string>

namespace sym::report {

// "1 run", "3 runs"
inline std::string number_of(std::uint64_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

// What an exhaustive search covers. `bound`: preemptions in each execution, negative for no bound.
inline std::string search_extent(int bound) {
  return bound < 0
             ? "no bound on preemptions"
             : "at most " + number_of(static_cast<std::uint64_t>(bound), "preemption") + " in each";
}

// How it ended: a budget or a finding cut it short, or the bound left some out, or neither.
inline std::string search_end(bool unfinished, bool within_bound) {
  if (unfinished) return "INCOMPLETE";
  if (within_bound) return "incomplete: the bound left some out";
  return "complete: every other order of verbs and of whole transfers does the same as one of them";
}

}  // namespace sym::report
