// SYM_DEBUG=info: what was decided on the way (variant, grid, heap, network), a line each on
// stderr.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

namespace sym {

inline bool debug_info() {
  const char* level = std::getenv("SYM_DEBUG");
  return level != nullptr && std::string(level) == "info";
}

inline void debug_info(const std::string& line) {
  if (debug_info()) std::fprintf(stderr, "sym info: %s\n", line.c_str());
}

}  // namespace sym
