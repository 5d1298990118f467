// Numbers of a PE's queues.
#pragma once

namespace sym::fiber {

inline constexpr int most_queues = 1 << 20;  // streams from here on are those of graphs

}  // namespace sym::fiber
