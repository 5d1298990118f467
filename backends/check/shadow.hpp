// Shadow: who last wrote and who since read each byte, as disjoint ranges. The cost follows the
// number of distinct ranges, not of bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "backends/check/clock.hpp"
#include "backends/fiber/engine.hpp"

namespace sym::check {

// One access by a verb or a transfer, as later ones need to see it.
struct Access {
  AgentId agent = 0;
  std::uint64_t tick = 0;        // of the agent when it accessed (direct) or issued (transfer)
  std::uint64_t lane_epoch = 0;  // syncs of the block so far (direct)
  std::uint64_t piece = 0;       // of a warps(), from 1; 0 outside
  std::uint64_t order = 0;       // transfers: among the issuer's; 0 for a direct access
  int to_pe = -1;                // transfers ordered by fences: their target
  std::uint64_t pe_order = 0;
  bool write = false;
  bool atomic = false;
  fiber::Bytes bytes;  // the whole range that the verb named
  fiber::Verb verb = fiber::Verb::host;
  Site site;
  int pe = 0;
  int block = 0;
  int launch = 0;
  const char* launch_name = "";
};
using AccessRef = std::shared_ptr<const Access>;

// Whether two pieces of one warps() did them: unordered, whatever they touch.
inline bool pieces_apart(const Access& a, const Access& b) {
  return a.agent == b.agent && a.lane_epoch == b.lane_epoch && a.piece != b.piece;
}

class Shadow {
 public:
  // Records `access` over `bytes`, and calls `conflict` for each earlier access that touches one of
  // them, where one of the two writes (and not both are atomic). `ordered(earlier)` says whether
  // the earlier access happens before this one; those that do and are superseded are forgotten.
  void record(const fiber::Bytes& bytes, const AccessRef& access,
              const std::function<bool(const Access&)>& ordered,
              const std::function<void(const Access&)>& conflict);
  void forget(int pe, int space);
  std::size_t ranges() const;

 private:
  struct Cell {
    std::size_t end = 0;
    AccessRef write;
    std::vector<AccessRef> reads;
  };
  using Ranges = std::map<std::size_t, Cell>;
  static bool stood_for(const Access& access, const std::vector<AccessRef>& reads);
  static void split(Ranges& ranges, std::size_t at);
  std::map<std::pair<int, int>, Ranges> spaces_;  // (PE, space)
};

}  // namespace sym::check
