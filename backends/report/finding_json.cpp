#include "backends/report/finding_json.hpp"

#include <nlohmann/json.hpp>

#include "backends/report/findings.hpp"

namespace sym::report {

nlohmann::ordered_json to_json(const Finding& finding) {
  nlohmann::ordered_json json;
  json["kind"] = finding.kind;
  json["verdict"] = finding.verdict;
  json["why"] = finding.why;
  json["fix"] = finding.fix;
  json["places"] = nlohmann::ordered_json::array();
  for (const Place& place : finding.places) {
    json["places"].push_back({{"role", place.role},
                              {"verb", place.verb},
                              {"file", place.file},
                              {"line", place.line},
                              {"pe", place.pe},
                              {"block", place.block},
                              {"queue", place.queue},
                              {"launch", place.launch},
                              {"launch_name", place.launch_name},
                              {"memory", place.memory}});
  }
  json["text"] = finding.text;
  return json;
}

Finding finding_of(const nlohmann::json& json) {
  Finding finding;
  json.at("kind").get_to(finding.kind);
  json.at("verdict").get_to(finding.verdict);
  json.at("why").get_to(finding.why);
  json.at("fix").get_to(finding.fix);
  json.at("text").get_to(finding.text);
  for (const auto& one : json.at("places")) {
    Place place;
    one.at("role").get_to(place.role);
    one.at("verb").get_to(place.verb);
    one.at("file").get_to(place.file);
    one.at("line").get_to(place.line);
    one.at("pe").get_to(place.pe);
    one.at("block").get_to(place.block);
    one.at("queue").get_to(place.queue);
    one.at("launch").get_to(place.launch);
    one.at("launch_name").get_to(place.launch_name);
    one.at("memory").get_to(place.memory);
    finding.places.push_back(std::move(place));
  }
  return finding;
}

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
