#include "experiments/sym/findings.hpp"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "core/error.hpp"

namespace sym::command {

namespace {

std::string seen(const KnownFinding& one, std::size_t runs) {
  std::string text = "seen in " + std::to_string(one.runs) + " of " + std::to_string(runs) +
                     (runs == 1 ? " run" : " runs");
  if (runs > 1) text += ", first at seed " + std::to_string(one.first.seed);
  return text;
}

std::string title(const Finding& finding) {
  const std::string sites = finding.sites();
  return finding.kind + (finding.verdict.empty() ? "" : " (" + finding.verdict + ")") +
         (sites.empty() ? "" : " at " + sites);
}

void write_file(const std::string& path, const std::string& text) {
  std::ofstream out(path);
  out << text;
  if (!out.flush()) throw Failure("cannot write " + path);
}

}  // namespace

Findings::Findings(const RunOptions& options) : options_(options) {
  if (!options.suppress.empty()) suppressions_ = Suppressions(options.suppress);
  for (const std::string& path : {options.findings, options.sarif}) {
    if (!path.empty() && !std::ofstream(path, std::ios::app))
      throw UsageError("cannot write " + path);
  }
}

std::vector<Finding> Findings::counted(const std::vector<Finding>& found) {
  std::vector<Finding> counted;
  for (const Finding& finding : found) {
    if (suppressions_.reason(finding) == nullptr) counted.push_back(finding);
  }
  return counted;
}

std::vector<std::size_t> Findings::add(const Point& point, const std::vector<Finding>& found) {
  ++runs_;
  std::vector<std::size_t> fresh;
  std::set<std::string> of_this_run;
  for (const Finding& finding : found) {
    const std::string key = point.algorithm + "/" + point.variant + "|" + finding.key();
    if (!of_this_run.insert(key).second) continue;
    const auto known = std::find_if(all_.begin(), all_.end(),
                                    [&](const KnownFinding& one) { return one.key == key; });
    if (known != all_.end()) {
      ++known->runs;
      continue;
    }
    const std::string* reason = suppressions_.reason(finding);
    all_.push_back({finding, key, point, 1, reason == nullptr ? "" : *reason, ""});
    if (reason == nullptr) fresh.push_back(all_.size() - 1);
  }
  return fresh;
}

std::vector<std::string> Findings::summary() const {
  std::vector<std::string> lines;
  for (const KnownFinding& one : all_) {
    if (!one.suppressed.empty()) {
      lines.push_back("suppressed: " + title(one.finding) + ": " + seen(one, runs_) + "; " +
                      one.suppressed);
    } else if (runs_ > 1) {
      lines.push_back(title(one.finding) + ": " + seen(one, runs_));
    }
  }
  const std::vector<std::string> unused = suppressions_.unused();
  lines.insert(lines.end(), unused.begin(), unused.end());
  return lines;
}

void Findings::write() const {
  if (!options_.findings.empty()) {
    std::string lines;
    for (const KnownFinding& one : all_) {
      nlohmann::ordered_json json = to_json(one.finding);
      json["algorithm"] = one.first.algorithm;
      json["variant"] = one.first.variant;
      json["backend"] = options_.backend;
      json["schedule"] = options_.schedule;
      json["pes"] = one.first.pes;
      json["seed"] = one.first.seed;
      json["seen"] = one.runs;
      json["runs"] = runs_;
      json["suppressed"] = one.suppressed;
      json["replay"] = one.replay;
      lines += json.dump() + "\n";
    }
    write_file(options_.findings, lines);
  }
  if (!options_.sarif.empty()) write_file(options_.sarif, to_sarif(all_, incomplete_, runs_));
}

}  // namespace sym::command
