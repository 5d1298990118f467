#include "backends/report/kinds.hpp"

namespace sym::report {

const std::map<std::string, std::string>& kinds() {
  static const std::map<std::string, std::string> all{
      {"abort", "The program called abort, or an assertion failed"},
      {"arithmetic", "A division by zero, or an instruction that is none"},
      {"bad-pointer", "A kernel touches memory that is not there"},
      {"busy", "Two launches use the rows of one channel at a time"},
      {"deadlock", "Nothing can run any more, and agents wait"},
      {"error", "A kernel failed: out of bounds, use after free, or what it threw"},
      {"exception", "An exception left a kernel or a host program"},
      {"exit", "The program ended the process in the middle of a run"},
      {"failure", "A world failed on every PE"},
      {"livelock", "All who can run poll for what nothing can change any more"},
      {"mismatch", "PEs came to one collective for different operations, counts, types or grids"},
      {"missing-sync", "Lanes of one block touch the same memory with no sync between"},
      {"no-yield", "A kernel computes without coming to a verb"},
      {"not-kept", "More findings than a run keeps"},
      {"overrun", "Memory around an allocation was written, which no verb does"},
      {"post", "A flag is posted again before it was taken"},
      {"race", "Two accesses to the same memory, one of them a write, that nothing orders"},
      {"refused", "A kernel requires what does not hold"},
      {"replay", "A replay took another way than the run that it repeats"},
      {"stack-overflow", "A kernel needs more stack than a block has"},
      {"take", "Two wait for one flag"},
      {"unbalanced", "A capture or a claim of a channel has no end, or no beginning"},
      {"uninitialised-read", "Memory is read that nobody has written"},
      {"wrong-data", "A result is not what it must be"}};
  return all;
}

}  // namespace sym::report
