// Which op sites a run has come to.
#pragma once

#include <string>

#include "backends/fiber/engine.hpp"

namespace sym::fiber {

// Once more of a step whose file is as in_tree() gives it. Steps of nobody's source are none.
inline void count_site(Statistics& statistics, const Step& step) {
  if (step.site.line == 0) return;
  const std::string place = std::string(step.site.file) + ":" + std::to_string(step.site.line);
  ++statistics.sites[{place, to_string(step.verb)}];
}

}  // namespace sym::fiber
