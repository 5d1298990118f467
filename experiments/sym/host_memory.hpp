// What the machine has for the data of a run.
#pragma once

namespace sym::command {

inline constexpr double gib = 1 << 30;

// Memory that could be had now. Infinite where there is no /proc.
double available_gib();

}  // namespace sym::command
