// Replay files: a finding with everything that it takes to find it again.
#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "core/error.hpp"
#include "experiments/sym/backends.hpp"
#include "experiments/sym/commands.hpp"
#include "experiments/sym/pattern.hpp"
#include "experiments/sym/version.hpp"

namespace sym::command {

namespace {
std::string joined(const std::vector<std::string>& texts) {
  return fmt::format("{}", fmt::join(texts, "\n"));
}

// Over what a reader may not change: the build, the arguments and the finding.
std::string seal(const std::string& build, const std::vector<std::string>& arguments,
                 const std::string& text) {
  const std::string all = build + "\n" + joined(arguments) + "\n" + text;
  return fmt::format("{:016x}", hash_bytes(all.data(), all.size()));
}
}  // namespace

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
  if (!options.knobs.empty()) add("--knobs", fmt::format("{}", fmt::join(options.knobs, ",")));
  return arguments;
}

std::string write_replay(const RunOptions& options, const std::vector<std::string>& arguments,
                         const std::vector<std::string>& texts) {
  nlohmann::ordered_json json;
  json["format"] = "symposium replay 1";
  json["build"] = build_id();
  json["arguments"] = arguments;
  json["finding"] = joined(texts);
  json["seal"] = seal(build_id(), arguments, joined(texts));
  std::string file = options.replay_file;
  if (file.empty()) {
    const std::string key = joined(arguments) + joined(texts);
    file = fmt::format("sym-finding-{:08x}.json", hash_bytes(key.data(), key.size()) & 0xffffffffU);
  }
  std::ofstream out(file);
  out << json.dump(2) << "\n";
  if (!out.flush()) throw Failure("cannot write the replay file " + file);
  return file;
}

int replay_command(const Invocation& invocation, const std::string& file) {
  std::ifstream in(file);
  if (!in) throw UsageError("cannot read " + file);
  nlohmann::json json;
  try {
    json = nlohmann::json::parse(in);
    if (json.at("format") != "symposium replay 1") throw UsageError("not a replay file");
  } catch (const std::exception&) {
    throw UsageError(file + " is no replay file of sym");
  }
  std::string build, finding, sealed;
  std::vector<std::string> arguments;
  try {
    json.at("build").get_to(build);
    json.at("arguments").get_to(arguments);
    json.at("finding").get_to(finding);
    json.at("seal").get_to(sealed);
  } catch (const nlohmann::json::exception&) {
    throw UsageError(
        file +
        " has been edited: a part is missing or of another kind; let the checker write it again");
  }
  if (sealed != seal(build, arguments, finding)) {
    throw UsageError(file +
                     " has been edited: its seal does not fit; let the checker write it again");
  }
  if (build != build_id()) {
    throw UsageError(file + " is of build '" + build + "', this is '" + build_id() +
                     "'; replay needs the same build");
  }
  const RunOptions options = parse_run(invocation.registry, arguments);
  const Algorithm& algorithm = invocation.registry.find(options.algorithm);
  const models::Machine machine = models::load_machine("h200x2");  // for `auto`, which none says
  const Planning planning{algorithm, options, machine, options.pes.at(0)};
  const Point point = algorithm.family.points(planning).at(0);
  const Outcome outcome = run_on_check(algorithm, point, options);
  std::vector<std::string> texts;
  for (const Finding& one : outcome.findings) texts.push_back(one.text);
  fmt::print("{}\n", joined(texts));
  const bool same = joined(texts) == finding;
  fmt::print("# {}\n",
             same ? "the same finding, word for word" : "NOT the same finding as in the file");
  return 1;
}

}  // namespace sym::command
