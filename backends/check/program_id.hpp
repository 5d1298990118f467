// Which program this is, so that a replay is not taken for another one's.
#pragma once

#include <string>

namespace sym::check {

// A hash of the code and constants of the running program, without what a linker or debugger adds.
// The same for copies of the program, and for builds of the same sources with the same compiler and
// options whose paths are not in the program (sym_add_checked_kernel keeps them out).
std::string program_id();

}  // namespace sym::check
