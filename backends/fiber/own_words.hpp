// Words that a PE keeps for itself: what it has sent and seen, and whether a channel is busy. The
// verbs of their tables write them, and nobody else.
#pragma once

#include <vector>

#include "backends/fiber/engine.hpp"

namespace sym::fiber {

// What the engine knows of an allocation (Engine::holds_words_).
enum class Words : char { none, signals, own };

// Refuses a verb or a host that would write such words. `words`: by space.
void refuse_own_words(Engine& engine, const std::vector<char>& words, const Bytes& dst);

}  // namespace sym::fiber
