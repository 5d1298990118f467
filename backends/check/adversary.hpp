// Adversary: the checker's policies, which choose among everything that the memory model allows.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "backends/fiber/engine.hpp"

namespace sym::check {

// A transfer may be torn between these, and never inside one.
inline constexpr std::size_t granule_bytes = 8;

// What `worst` makes late or shuffles; each may be switched off alone (`--knobs`). The last three
// are for every schedule that does not take things as they come.
struct Knobs {
  bool late_source = true;    // the source is read when the destination is written, not before
  bool late_delivery = true;  // nothing is delivered before somebody needs it
  bool split = true;    // a payload arrives in pieces: first granule, last granule, the middle
  bool skew = true;     // low PEs run up to two launches ahead of the others
  bool poison = true;   // a destination holds rubbish from issue to delivery
  bool shuffle = true;  // the pieces of warps() run in another order than ascending
  // With a limit to resident blocks: places go to a PE's launches in another order than theirs.
  bool launch_order = true;
  bool wrap = false;  // channels begin a few epochs before their counters wrap
};

// Those that are named; `none` is none. Without a name what Knobs has by itself. Throws UsageError
// for a name that none has.
Knobs knobs_of(const std::vector<std::string>& names);

// Whether the agent has looked in vain so often that all others are to go first, wherever it stands
// now: asked when it is ready. If so, it begins to count anew.
bool lets_others_on(fiber::Agent& agent);

// In order: every transfer happens when it is issued, agents take turns.
std::unique_ptr<fiber::Policy> make_fifo();
// The worst legal order, as far as it is known without search; deterministic.
// `reversed`: whose launches get places (EngineOptions::resident_blocks) in the order opposite to
// theirs.
enum class Reversed { odd_pes, no_pes, all_pes };
std::unique_ptr<fiber::Policy> make_worst(const Knobs& knobs, Reversed reversed);

}  // namespace sym::check
