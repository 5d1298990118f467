// The build without SimGrid: everything else works, and asking for it says what to do.
#ifndef SYM_HAVE_SIMGRID

#include <stdexcept>

#include "network.hpp"

namespace sym::sim {

bool have_simgrid() { return false; }

std::unique_ptr<Network> make_simgrid_network(const std::vector<double>& /*link_bytes_per_s*/) {
  throw std::runtime_error(
      "this build has no SimGrid: install libsimgrid-dev (3.32 or later) and build again, "
      "or use --network ports");
}

}  // namespace sym::sim

#endif
