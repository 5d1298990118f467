// Which build this is: replay files and result files name it.
#pragma once

#include <string>

namespace sym::command {
std::string version();   // 0.1.0
std::string build_id();  // commit and compiler
}  // namespace sym::command
