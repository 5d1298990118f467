// SARIF 2.1.0, as code scanning services read it.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "backends/report/build.hpp"
#include "backends/report/findings.hpp"
#include "backends/report/hash.hpp"
#include "backends/report/kinds.hpp"

namespace sym::report {

namespace {

using Json = nlohmann::ordered_json;

Json physical(const Place& place) {
  Json json;
  json["artifactLocation"] = {{"uri", place.file}, {"uriBaseId", "SRCROOT"}};
  json["region"] = {{"startLine", place.line}};
  return json;
}

std::string who(const Place& place) {
  std::string text = place.role + ": PE " + std::to_string(place.pe);
  if (place.block >= 0) {
    text += " block " + std::to_string(place.block) + ", launch " + std::to_string(place.launch);
  }
  if (place.queue >= 0) text += " queue " + std::to_string(place.queue);
  if (place.block >= 0 && !place.launch_name.empty()) text += " (" + place.launch_name + ")";
  text += place.verb.empty() ? "" : ", " + place.verb;
  return text + (place.memory.empty() ? "" : ", " + place.memory);
}

std::string message(const Finding& finding) {
  std::string text = finding.why.empty() ? finding.text : finding.why;
  if (!finding.verdict.empty()) text = finding.verdict + ": " + text;
  if (!finding.fix.empty()) text += "\nFix: " + finding.fix;
  return text;
}

Json result_of(const KnownFinding& known, std::size_t rule) {
  Json result;
  result["ruleId"] = known.finding.kind;
  result["ruleIndex"] = rule;
  result["level"] = "error";
  result["message"] = {{"text", message(known.finding)}};
  result["locations"] = Json::array();
  result["relatedLocations"] = Json::array();
  for (const Place& place : known.finding.places) {
    if (place.line == 0) continue;
    Json location;
    if (result["locations"].empty()) {
      location["physicalLocation"] = physical(place);
      location["message"] = {{"text", who(place)}};
      result["locations"].push_back(location);
      continue;
    }
    location["id"] = result["relatedLocations"].size() + 1;
    location["physicalLocation"] = physical(place);
    location["message"] = {{"text", who(place)}};
    result["relatedLocations"].push_back(location);
  }
  result["occurrenceCount"] = known.runs;
  result["partialFingerprints"] = {{"symFinding/v1", fnv_text(known.key)}};
  if (!known.suppressed.empty()) {
    result["suppressions"] = Json::array(
        {{{"kind", "external"}, {"status", "accepted"}, {"justification", known.suppressed}}});
  }
  result["properties"] = {{"algorithm", known.first.algorithm},
                          {"variant", known.first.variant},
                          {"pes", known.first.pes},
                          {"seed", known.first.seed},
                          {"replay", known.replay},
                          {"text", known.finding.text}};
  return result;
}

}  // namespace

std::string to_sarif(const std::vector<KnownFinding>& findings,
                     const std::vector<std::string>& incomplete, std::size_t runs) {
  Json rules = Json::array(), results = Json::array(), notifications = Json::array();
  std::vector<std::string> kinds;
  for (const KnownFinding& known : findings) {
    const std::string& kind = known.finding.kind;
    auto at = std::find(kinds.begin(), kinds.end(), kind);
    if (at == kinds.end()) {
      const auto meaning = report::kinds().find(kind);  // `kinds` here are those found
      const std::string text = meaning == report::kinds().end() ? kind : meaning->second;
      rules.push_back({{"id", kind},
                       {"name", kind},
                       {"shortDescription", {{"text", text}}},
                       {"defaultConfiguration", {{"level", "error"}}}});
      at = kinds.insert(kinds.end(), kind);
    }
    results.push_back(result_of(known, static_cast<std::size_t>(at - kinds.begin())));
  }
  for (const std::string& why : incomplete)
    notifications.push_back({{"level", "warning"}, {"message", {{"text", "incomplete: " + why}}}});
  Json run;
  run["tool"]["driver"] = {{"name", "sym"}, {"version", version()}, {"rules", rules}};
  run["originalUriBaseIds"] = {
      {"SRCROOT", {{"description", {{"text", "The root of the source tree"}}}}}};
  run["invocations"] =
      Json::array({{{"executionSuccessful", true}, {"toolExecutionNotifications", notifications}}});
  run["results"] = results;
  run["properties"] = {{"runs", runs}};
  Json json;
  json["$schema"] = "https://json.schemastore.org/sarif-2.1.0.json";
  json["version"] = "2.1.0";
  json["runs"] = Json::array({run});
  return json.dump(2) + "\n";
}

}  // namespace sym::report
