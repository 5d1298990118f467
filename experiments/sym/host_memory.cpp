#include "experiments/sym/host_memory.hpp"

#include <fstream>
#include <limits>
#include <string>

namespace sym::command {

double available_gib() {
  std::ifstream file("/proc/meminfo");
  for (std::string word; file >> word;) {
    double kib = 0;
    if (word == "MemAvailable:" && file >> kib) return kib * 1024 / gib;
  }
  return std::numeric_limits<double>::infinity();
}

}  // namespace sym::command
