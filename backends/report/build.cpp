#include "backends/report/build.hpp"

#include "sym_build.hpp"

namespace sym::report {
std::string version() { return SYM_VERSION; }
std::string build_id() { return SYM_BUILD_ID; }
std::string source_id() { return SYM_SOURCE_ID; }
}  // namespace sym::report
