#include "core/gemm/buffers.hpp"

#include <algorithm>
#include <cstddef>

#include "core/gemm/tiling.hpp"

namespace sym::gemm {

namespace {

struct Buffer {
  int tile = -1;
  int last_use = -1;
};

int next_use(const std::vector<int>& uses, std::size_t from, int tile) {
  const auto begin = uses.begin() + static_cast<std::ptrdiff_t>(from);
  return static_cast<int>(std::find(begin, uses.end(), tile) - uses.begin());
}

int victim(const std::vector<Buffer>& buffers, const std::vector<int>& uses, std::size_t stage) {
  int best = 0;
  int farthest = -1;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const int next = next_use(uses, stage, buffers[i].tile);
    const bool tie = next == farthest && buffers[i].last_use < buffers[to_index(best)].last_use;
    if (next <= farthest && !tie) continue;
    farthest = next;
    best = to_int(i);
  }
  return best;
}

}  // namespace

Loads assign_buffers(const std::vector<int>& uses, int most) {
  Loads loads;
  loads.buffer.assign(uses.size(), -1);
  loads.after.assign(uses.size(), -1);
  loads.loaded.assign(uses.size(), false);
  std::vector<Buffer> buffers;
  for (std::size_t stage = 0; stage < uses.size(); ++stage) {
    if (uses[stage] < 0) continue;
    const auto held = std::find_if(buffers.begin(), buffers.end(),
                                   [&](const Buffer& one) { return one.tile == uses[stage]; });
    int chosen = static_cast<int>(held - buffers.begin());
    if (held == buffers.end()) {
      loads.loaded[stage] = true;
      if (most == 0 || to_int(buffers.size()) < most) {
        buffers.emplace_back();
      } else {
        chosen = victim(buffers, uses, stage);
        loads.after[stage] = buffers[to_index(chosen)].last_use;
      }
    }
    loads.buffer[stage] = chosen;
    buffers[to_index(chosen)] = Buffer{uses[stage], to_int(stage)};
  }
  loads.buffers = to_int(buffers.size());
  return loads;
}

}  // namespace sym::gemm
