#include <nlohmann/json.hpp>

#include "backends/report/finding_json.hpp"
#include "backends/report/findings.hpp"

namespace sym::report {

bool has_json() { return true; }

std::string to_json_lines(const std::vector<KnownFinding>& findings, std::size_t runs) {
  std::string lines;
  for (const KnownFinding& one : findings) {
    nlohmann::ordered_json json = to_json(one.finding);
    json["algorithm"] = one.first.algorithm;
    json["variant"] = one.first.variant;
    json["backend"] = one.first.backend;
    json["schedule"] = one.first.schedule;
    json["pes"] = one.first.pes;
    json["seed"] = one.first.seed;
    json["seen"] = one.runs;
    json["runs"] = runs;
    json["suppressed"] = one.suppressed;
    json["replay"] = one.replay;
    lines += json.dump() + "\n";
  }
  return lines;
}

}  // namespace sym::report
