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
  return ended_run || kind == "exception" || kind == "failure" || kind == "replay";
}

std::string Finding::bug() const {
  const std::string at = sites();
  std::string bug = kind + "|" + (at.empty() ? text.substr(0, text.find('\n')) : at);
  if (kind != "race") return bug;
  // A put that reads what is written and a put that writes what is read are two bugs of one line.
  std::set<std::string> roles;
  for (const Place& place : places) {
    roles.insert(place.file + ":" + std::to_string(place.line) + " " + place.role);
  }
  for (const std::string& role : roles) bug += "|" + role.substr(role.rfind(' ') + 1);
  return bug;
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
