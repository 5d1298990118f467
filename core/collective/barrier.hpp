// barrier: blocks of equal index, across a team.
#pragma once

#include "core/block.hpp"

namespace sym {

// Completes what this block issued, then meets the same-index block of every member (all-to-all,
// one flag each way). Called by that block of every member, in the same order on both ends of each
// pair. What any of them did before is visible to all after. It orders nothing of *other* blocks of
// the same PE. False if a wait expired or the members disagree on the operation (Channel::tagged).
template <Block B>
SYM_FN bool barrier(B& block, const Group& group, Site site = Site::here()) {
  const std::size_t slot = static_cast<std::size_t>(block.index());
  block.quiet(site);
  block.signal(group.channel.barriers, slot, group.team, site);
  return block.wait_until(group.channel.barriers, slot, group.team, site);
}

}  // namespace sym
