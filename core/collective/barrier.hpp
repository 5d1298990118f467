// barrier: blocks of equal index, across a team.
#pragma once

#include "core/block.hpp"

namespace sym {

// The two halves of a barrier, for work that neither waits for the others nor is waited for by
// them.
template <Block B>
SYM_FN void arrive(B& block, const Group& group, Site site = Site::here()) {
  block.quiet(site);
  block.signal(group.channel.barriers, static_cast<std::size_t>(block.index()), group.team, site);
}
template <Block B>
SYM_FN bool depart(B& block, const Group& group, Site site = Site::here()) {
  return block.wait_until(group.channel.barriers, static_cast<std::size_t>(block.index()),
                          group.team, site);
}

// Completes what this block issued, then meets the same-index block of every member (all-to-all,
// one flag each way). Called by that block of every member, in the same order on both ends of each
// pair. What any of them did before is visible to all after. It orders nothing of *other* blocks of
// the same PE. False if a wait expired or the members disagree on the operation (Channel::tagged).
template <Block B>
SYM_FN bool barrier(B& block, const Group& group, Site site = Site::here()) {
  arrive(block, group, site);
  return depart(block, group, site);
}

}  // namespace sym
