#include "backends/report/finding.hpp"

#include <set>

namespace sym::report {

namespace {
std::string sites_of(const std::vector<Place>& places, bool hosts) {
  std::set<std::string> sites;
  for (const Place& place : places) {
    const bool of_host = place.block < 0 && place.queue < 0;
    if (place.line != 0 && (hosts || !of_host))
      sites.insert(place.file + ":" + std::to_string(place.line));
  }
  std::string all;
  for (const std::string& site : sites) all += (all.empty() ? "" : ", ") + site;
  return all;
}
}  // namespace

std::string Finding::sites() const { return sites_of(places, true); }

std::string Finding::title() const {
  const std::string at = sites();
  return kind + (verdict.empty() ? "" : " (" + verdict + ")") + (at.empty() ? "" : " at " + at);
}

bool Finding::ends_run() const {
  return ended_run || kind == "exception" || kind == "failure" || kind == "replay";
}

std::string Finding::bug() const {
  // Which hosts wait besides depends on how many PEs there are.
  const bool hangs = kind == "deadlock" || kind == "livelock";
  const std::string kernels = hangs ? sites_of(places, false) : "";
  const std::string at = kernels.empty() ? sites() : kernels;
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
