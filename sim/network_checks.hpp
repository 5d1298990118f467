// What every Network refuses, said once, so that both implementations refuse the same in the same
// words.
#pragma once

#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include "network.hpp"

namespace sym::sim {

inline void check_links(const std::vector<double>& link_bytes_per_s) {
  for (std::size_t link = 0; link < link_bytes_per_s.size(); ++link) {
    const double rate = link_bytes_per_s[link];
    if (!(rate > 0) || !std::isfinite(rate))
      throw std::invalid_argument("network: link " + std::to_string(link) + " has bandwidth " +
                                  std::to_string(rate) + " B/s; it must be positive and finite");
  }
}

// A link listed twice is refused: whether it counts once or twice would be a guess.
inline void check_flow(const Flow& flow, std::size_t link_count) {
  const auto refuse = [&flow](const std::string& what) {
    throw std::invalid_argument("network: flow " + std::to_string(flow.id) + " " + what);
  };
  if (!(flow.bytes > 0) || !std::isfinite(flow.bytes))
    refuse("has " + std::to_string(flow.bytes) + " bytes; it must be positive and finite");
  if (!(flow.rate_cap_bytes_per_s > 0)) refuse("has a rate cap that is not positive");
  if (flow.links.empty()) refuse("crosses no link");
  for (std::size_t i = 0; i < flow.links.size(); ++i) {
    const int link = flow.links[i];
    if (link < 0 || static_cast<std::size_t>(link) >= link_count)
      refuse("names link " + std::to_string(link) + " of " + std::to_string(link_count));
    for (std::size_t j = 0; j < i; ++j)
      if (flow.links[j] == link) refuse("names link " + std::to_string(link) + " twice");
  }
}

inline void check_advance(double now, double until, std::size_t in_flight) {
  if (!(until >= now))
    throw std::invalid_argument("network: advance to " + std::to_string(until) +
                                " s, before now, " + std::to_string(now) + " s");
  if (in_flight == 0 && std::isinf(until))
    throw std::logic_error(
        "network: advance without end and no flow in flight: nothing can happen");
}

}  // namespace sym::sim
