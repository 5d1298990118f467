// Which buffer holds which foreign tile when.
#pragma once

#include <vector>

namespace sym::gemm {

// For each stage of a rank: its buffer (-1: it needs none), whether the tile must be fetched into
// it first, and then the last stage that used what the buffer held before (-1: nothing).
struct Loads {
  int buffers = 0;
  std::vector<int> buffer, after;
  std::vector<bool> loaded;
};

// `uses` names the foreign tile that each stage needs, -1 for none. At most `most` buffers (0: as
// many as there are tiles). A tile stays while its buffer is not needed; the one given up is the
// one whose next use is farthest, and of those that are not used again the one used longest ago, so
// that copies run ahead as far as they can.
Loads assign_buffers(const std::vector<int>& uses, int most);

}  // namespace sym::gemm
