// Adversary: the checker's policies, which choose among everything that the memory model allows.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "backends/fiber/engine.hpp"

namespace sym::check {

// What `worst` makes late or shuffles; each may be switched off alone (`--knobs`).
struct Knobs {
  bool late_source = true;    // the source is read when the destination is written, not before
  bool late_delivery = true;  // nothing is delivered before somebody needs it
  bool split = true;   // a payload arrives in pieces: first granule, last granule, the middle
  bool skew = true;    // low PEs run up to two launches ahead of the others
  bool poison = true;  // a destination holds rubbish from issue to delivery
};

// In order: every transfer happens when it is issued, agents take turns.
std::unique_ptr<fiber::Policy> make_fifo();
// Any ready agent or deliverable transfer, each with equal chance.
std::unique_ptr<fiber::Policy> make_random(std::uint64_t seed);
// The worst legal order, as far as it is known without search; deterministic.
std::unique_ptr<fiber::Policy> make_worst(const Knobs& knobs);

}  // namespace sym::check
