#include "backends/report/finding.hpp"

#include <set>

namespace sym::report {

std::string Finding::sites() const {
  std::set<std::string> sites;
  for (const Place& place : places) {
    if (place.line != 0) sites.insert(place.file + ":" + std::to_string(place.line));
  }
  std::string all;
  for (const std::string& site : sites) all += (all.empty() ? "" : ", ") + site;
  return all;
}

std::string Finding::title() const {
  const std::string at = sites();
  return kind + (verdict.empty() ? "" : " (" + verdict + ")") + (at.empty() ? "" : " at " + at);
}

bool Finding::ends_run() const {
  // A post that the race detector doubts is told with a reason, and the run goes on.
  if (kind == "post") return why.empty();
  static const std::set<std::string> harmless{"race", "missing-sync", "uninitialised-read",
                                              "unbalanced", "wrong-data"};
  return !harmless.contains(kind);
}

std::string Finding::bug() const {
  const std::string at = sites();
  return kind + "|" + (at.empty() ? text.substr(0, text.find('\n')) : at);
}

std::string Finding::key() const { return verdict + "|" + bug(); }

std::vector<Finding> distinct(const std::vector<Finding>& findings) {
  std::vector<Finding> all;
  std::set<std::string> keys;
  for (const Finding& finding : findings) {
    if (keys.insert(finding.key()).second) all.push_back(finding);
  }
  return all;
}

}  // namespace sym::report
