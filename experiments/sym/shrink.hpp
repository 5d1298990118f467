// Shrinking: a run with a finding, made smaller while it still has it.
#pragma once

#include <cstddef>

#include "experiments/sym/replay.hpp"

namespace sym::command {

struct Shrunk {
  Replay replay;
  ReplayedRun run;
  std::size_t tried = 0;  // runs that it took
};

// Fewer PEs, blocks, launches and elements first, as long as some order of events shows a finding
// of the same kind at the same op sites; then fewer decisions, by delta debugging (Zeller and
// Hildebrandt 2002): what is no longer decided happens oldest first, whole. Throws Failure if the
// run has no such finding any more.
Shrunk shrink(const Registry& registry, const Replay& replay);

}  // namespace sym::command
