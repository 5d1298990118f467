// Replay files: a finding with everything that it takes to find it again.
#include "experiments/sym/replay.hpp"

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/error.hpp"
#include "experiments/sym/backends.hpp"
#include "experiments/sym/pattern.hpp"
#include "experiments/sym/version.hpp"

namespace sym::command {

namespace {

constexpr const char* format_name = "symposium replay 2";

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
  const std::string all = rest.dump();
  return fmt::format("{:016x}", hash_bytes(all.data(), all.size()));
}

}  // namespace

std::string Replay::text() const {
  std::string all;
  for (const Finding& finding : findings) all += finding.text + "\n";
  return all;
}

std::vector<std::string> replay_arguments(const Algorithm& algorithm, const Point& point,
                                          const RunOptions& options) {
  std::vector<std::string> arguments{point.algorithm, "--backend", "check"};
  const auto add = [&arguments](const char* name, const std::string& value) {
    arguments.insert(arguments.end(), {name, value});
  };
  add("--pes", std::to_string(point.pes));
  add("--dtype", point.dtype);
  add("--blocks", std::to_string(point.blocks));
  add("--iterations", std::to_string(point.iterations));
  add("--seed", std::to_string(point.seed));
  const bool is_schedule = !algorithm.family.schedules.empty();  // of the algorithm's own
  add("--schedule", options.schedule + (is_schedule ? "," + point.variant : ""));
  if (!is_schedule) add("--variant", point.variant);
  const std::vector<std::string> own = algorithm.family.arguments(point);
  arguments.insert(arguments.end(), own.begin(), own.end());
  if (!options.inject.empty()) add("--inject", options.inject);
  if (options.depth != RunOptions{}.depth) add("--depth", std::to_string(options.depth));
  if (options.bound >= 0) add("--bound", std::to_string(options.bound));
  if (options.most_steps > 0) add("--budget", std::to_string(options.most_steps));
  if (options.resident > 0) add("--resident", std::to_string(options.resident));
  if (!options.knobs.empty()) add("--knobs", fmt::format("{}", fmt::join(options.knobs, ",")));
  return arguments;
}

std::string write_replay(const Replay& replay, const std::string& file) {
  nlohmann::ordered_json json;
  json["format"] = format_name;
  json["build"] = build_id();
  json["arguments"] = replay.arguments;
  json["decisions"] = packed(replay.decisions);
  json["exact"] = replay.exact;
  json["wanted"] = replay.wanted;
  json["findings"] = nlohmann::ordered_json::array();
  for (const Finding& finding : replay.findings) json["findings"].push_back(to_json(finding));
  json["seal"] = seal(json);
  std::string name = file;
  if (name.empty()) {
    const std::string key = json["seal"];
    name = fmt::format("sym-finding-{}.json", key.substr(8));
  }
  std::ofstream out(name);
  out << json.dump(2) << "\n";
  if (!out.flush()) throw Failure("cannot write the replay file " + name);
  return name;
}

Replay read_replay(const std::string& file) {
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
  std::string build;
  try {
    json.at("build").get_to(build);
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
  if (build != build_id()) {
    throw UsageError(file + " is of build '" + build + "', this is '" + build_id() +
                     "'; replay needs the same build");
  }
  return replay;
}

ReplayedRun run_of(const Registry& registry, const Replay& replay) {
  ReplayedRun run;
  run.options = parse_run(registry, replay.arguments);
  run.options.decisions = replay.decisions;
  run.options.exact_replay = replay.exact;
  const Algorithm& algorithm = registry.find(run.options.algorithm);
  const models::Machine machine = models::load_machine("h200x2");  // for `auto`, which none says
  run.point =
      algorithm.family.points(Planning{algorithm, run.options, machine, run.options.pes.at(0)})
          .at(0);
  return run;
}

std::vector<Finding> found_by(const Outcome& outcome) {
  std::vector<Finding> found = distinct(outcome.findings);
  if (found.empty() && outcome.result.wrong != 0) found.push_back(wrong_data(outcome.result));
  return found;
}

int replay_command(const Invocation& invocation, const std::string& file) {
  const Replay replay = read_replay(file);
  const ReplayedRun run = run_of(invocation.registry, replay);
  const Algorithm& algorithm = invocation.registry.find(run.options.algorithm);
  Replay again;
  again.findings = found_by(run_on_check(algorithm, run.point, run.options));
  fmt::print("{}", again.text());
  fmt::print("# {}\n", again.text() == replay.text() ? "the same finding, word for word"
                                                     : "NOT the same finding as in the file");
  return 1;
}

}  // namespace sym::command
