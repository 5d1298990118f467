// Which build this is: replay files and result files name it.
#pragma once

#include <string>

namespace sym::report {

std::string version();   // 0.1.0
std::string build_id();  // commit and compiler
// What decides what a run does: a hash of the tree's sources, and the compiler. The same wherever
// the tree lies and whenever it was built, and another for each change of the sources, committed or
// not.
std::string source_id();

}  // namespace sym::report
