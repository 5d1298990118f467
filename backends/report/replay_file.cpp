#include "backends/report/replay_file.hpp"

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "backends/report/build.hpp"
#include "backends/report/finding_json.hpp"
#include "backends/report/findings.hpp"
#include "backends/report/hash.hpp"
#include "core/error.hpp"

namespace sym::report {

namespace {

constexpr const char* format_name = "symposium replay 3";

// "3 0*12 5": run-length coded.
std::string packed(const std::vector<std::uint32_t>& decisions) {
  std::string text;
  for (std::size_t at = 0; at < decisions.size();) {
    std::size_t end = at;
    while (end < decisions.size() && decisions[end] == decisions[at]) ++end;
    if (!text.empty()) text += ' ';
    text += std::to_string(decisions[at]);
    if (end - at > 1) text += '*' + std::to_string(end - at);
    at = end;
  }
  return text;
}

// Throws std::exception for what packed() does not write.
std::vector<std::uint32_t> unpacked(const std::string& text) {
  std::vector<std::uint32_t> decisions;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const std::size_t star = word.find('*');
    const unsigned long value = std::stoul(word);
    const unsigned long times = star == std::string::npos ? 1 : std::stoul(word.substr(star + 1));
    decisions.insert(decisions.end(), times, static_cast<std::uint32_t>(value));
  }
  return decisions;
}

// Over what a reader may not change.
std::string seal(const nlohmann::ordered_json& json) {
  nlohmann::ordered_json rest = json;
  rest.erase("seal");
  return fnv_text(rest.dump());
}

}  // namespace

std::string write_replay(const Replay& replay, const std::string& file, const Identity& identity) {
  nlohmann::ordered_json json;
  json["format"] = format_name;
  json["build"] = build_id();  // for people
  json["sources"] = identity;
  json["arguments"] = replay.arguments;
  json["decisions"] = packed(replay.decisions);
  json["exact"] = replay.exact;
  json["wanted"] = replay.wanted;
  json["findings"] = nlohmann::ordered_json::array();
  for (const Finding& finding : replay.findings) json["findings"].push_back(to_json(finding));
  json["seal"] = seal(json);
  std::string name = file;
  if (name.empty()) name = "sym-finding-" + json["seal"].get<std::string>().substr(8) + ".json";
  write_file(name, json.dump(2) + "\n");
  return name;
}

Replay read_replay(const std::string& file, const Identity& identity) {
  std::ifstream in(file);
  if (!in) throw UsageError("cannot read " + file);
  nlohmann::ordered_json json;
  std::string format;
  try {
    json = nlohmann::ordered_json::parse(in);
    json.at("format").get_to(format);
  } catch (const std::exception&) {
    throw UsageError(file + " is no replay file of sym");
  }
  if (format != format_name) {
    throw UsageError(file + " has the format '" + format + "'; this build reads '" + format_name +
                     "'; let the checker write it again");
  }
  Replay replay;
  std::string build, sources;
  try {
    json.at("build").get_to(build);
    json.at("sources").get_to(sources);
    json.at("arguments").get_to(replay.arguments);
    json.at("exact").get_to(replay.exact);
    json.at("wanted").get_to(replay.wanted);
    replay.decisions = unpacked(json.at("decisions").get<std::string>());
    for (const auto& finding : json.at("findings")) replay.findings.push_back(finding_of(finding));
    if (json.at("seal") != seal(json)) throw std::invalid_argument("seal");
  } catch (const std::exception&) {
    throw UsageError(file +
                     " has been edited: a part is missing or its seal does not fit; let the "
                     "checker write it again");
  }
  if (sources != identity) {
    throw UsageError(file + " is of another build ('" + build + "', " + sources +
                     "); this one is '" + build_id() + "', " + identity +
                     ", and a replay needs the same sources");
  }
  return replay;
}

}  // namespace sym::report
