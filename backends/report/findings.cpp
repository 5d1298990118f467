#include "backends/report/findings.hpp"

#include <algorithm>
#include <fstream>
#include <set>

#include "core/error.hpp"

namespace sym::report {

namespace {

std::string seen(const KnownFinding& one, std::size_t runs) {
  std::string text = "seen in " + std::to_string(one.runs) + " of " + std::to_string(runs) +
                     (runs == 1 ? " run" : " runs");
  if (runs > 1) text += ", first at seed " + std::to_string(one.first.seed);
  return text;
}

}  // namespace

void require_writable(const std::string& path) {
  if (!std::ofstream(path, std::ios::app)) throw UsageError("cannot write " + path);
}

void write_file(const std::string& path, const std::string& text) {
  std::ofstream out(path);
  out << text;
  if (!out.flush()) throw UsageError("cannot write " + path);
}

Findings::Findings(const Files& files) : files_(files) {
  if (!files.sarif.empty() && files.sarif == files.findings)
    throw UsageError(files.sarif +
                     " cannot hold both --findings and --sarif: two files are wanted");
  if (!files.suppress.empty()) suppressions_ = Suppressions(files.suppress);
  for (const std::string& path : {files.findings, files.sarif}) {
    if (path.empty()) continue;
    if (!has_json())
      throw UsageError(path + ": this build writes no such files, because it has no nlohmann-json");
    require_writable(path);
  }
}

std::vector<Finding> Findings::counted(const std::vector<Finding>& found) const {
  std::vector<Finding> counted;
  for (const Finding& finding : found) {
    if (!suppressions_.accepts(finding)) counted.push_back(finding);
  }
  return counted;
}

std::string Findings::ended_early(const std::vector<Finding>& found) const {
  if (!counted(found).empty()) return "";
  const auto last = std::find_if(found.begin(), found.end(),
                                 [](const Finding& finding) { return finding.ends_run(); });
  if (last == found.end()) return "";
  return "INCOMPLETE ended early by a suppressed finding, " + last->title() +
         ": what would have come after it is not checked";
}

std::vector<std::size_t> Findings::add(const Origin& run, const std::vector<Finding>& found) {
  ++runs_;
  std::vector<std::size_t> fresh;
  std::set<std::string> of_this_run;
  for (const Finding& finding : found) {
    const std::string key = run.algorithm + "/" + run.variant + "|" + finding.key();
    if (!of_this_run.insert(key).second) continue;
    const auto known = std::find_if(all_.begin(), all_.end(),
                                    [&](const KnownFinding& one) { return one.key == key; });
    if (known != all_.end()) {
      ++known->runs;
      continue;
    }
    const Suppressions::Accepted accepted = suppressions_.take(finding);
    all_.push_back({finding, key, run, 1, accepted.reason, accepted.entry, ""});
    if (accepted.reason.empty()) fresh.push_back(all_.size() - 1);
  }
  return fresh;
}

std::vector<std::string> Findings::summary() const {
  std::vector<std::string> lines;
  for (const KnownFinding& one : all_) {
    if (!one.suppressed.empty()) {
      lines.push_back("suppressed: " + one.finding.title() + ": " + seen(one, runs_) + "; " +
                      one.entry + ": " + one.suppressed);
    } else if (runs_ > 1) {
      lines.push_back(one.finding.title() + ": " + seen(one, runs_));
    }
  }
  const std::vector<std::string> entries = suppressions_.summary();
  lines.insert(lines.end(), entries.begin(), entries.end());
  return lines;
}

void Findings::write() const {
  if (!files_.findings.empty()) write_file(files_.findings, to_json_lines(all_, runs_));
  if (!files_.sarif.empty()) write_file(files_.sarif, to_sarif(all_, incomplete_, runs_));
}

}  // namespace sym::report
