// Trail: what set the time of each event of a simulated run, and so, from its last one backwards,
// the critical path.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backends/fiber/verb.hpp"
#include "sim/platform.hpp"

namespace sym::sim {

// What took the time between an event and the one that caused it.
enum class Why : std::uint8_t { nothing, launch, latency, sync, local, block, link, posting, gemm };

class Trail {
 public:
  using Index = std::int64_t;
  static constexpr Index none = -1;
  struct Moment {
    Index before = none;  // the event that caused this one
    double time_s = 0;
    fiber::Verb verb = fiber::Verb::host;
    Why why = Why::nothing;
    int pe = 0;
    int link = -1;  // that held the flow back, where `why` says so
    Site site = {};
  };

  Index add(const Moment& moment) {
    moments_.push_back(moment);
    return static_cast<Index>(moments_.size()) - 1;
  }

  // A stretch of the critical path: one PE, one verb, one reason.
  struct Stretch {
    Moment end;
    double seconds = 0;
  };
  // To `last`, oldest first; what takes no time is left out.
  std::vector<Stretch> path(Index last) const;

 private:
  std::vector<Moment> moments_;
};

// What a link has carried.
struct LinkLoad {
  std::string name;
  double bytes = 0;
  double bytes_per_s = 0;  // its rate
};

// The answer for people, in lines: what bounds each phase (a verb and its line in the source), the
// path itself, and the hottest ten of `links`. `end_s` is the length of the run.
std::vector<std::string> explain(const std::vector<Trail::Stretch>& path, const Platform& platform,
                                 std::vector<LinkLoad> links, double end_s);

}  // namespace sym::sim
