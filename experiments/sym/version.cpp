#include "experiments/sym/version.hpp"

#include "sym_build.hpp"

namespace sym::command {
std::string version() { return SYM_VERSION; }
std::string build_id() { return SYM_BUILD_ID; }
}  // namespace sym::command
