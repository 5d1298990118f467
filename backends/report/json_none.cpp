// What a build without nlohmann-json says of files.
#include "backends/report/findings.hpp"
#include "backends/report/replay_file.hpp"
#include "core/error.hpp"

namespace sym::report {

namespace {
[[noreturn]] void refuse() {
  throw UsageError("this build reads and writes no JSON, because it has no nlohmann-json");
}
}  // namespace

bool has_json() { return false; }
std::string to_json_lines(const std::vector<KnownFinding>&, std::size_t) { refuse(); }
std::string to_sarif(const std::vector<KnownFinding>&, const std::vector<std::string>&,
                     std::size_t) {
  refuse();
}
std::string write_replay(const Replay&, const std::string&, const Identity&) { refuse(); }
Replay read_replay(const std::string&, const Identity&) { refuse(); }

}  // namespace sym::report
