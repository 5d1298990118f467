// How the engine names agents and places in texts.
#include <algorithm>
#include <sstream>
#include <string_view>

#include "backends/fiber/engine.hpp"

namespace sym::fiber {

namespace {
std::string at_site(Site site) {
  if (site.line == 0) return "";
  return " at " + std::string(site.file) + ":" + std::to_string(site.line);
}
}  // namespace

std::string Engine::describe(const Agent& agent) const {
  std::ostringstream text;
  text << "PE " << agent.pe;
  if (agent.queue >= 0) {
    text << " queue " << agent.queue << "  " << to_string(agent.step.verb)
         << at_site(agent.step.site);
  } else if (agent.block >= 0) {
    text << " block " << agent.block << "  launch " << agent.launch << " (" << agent.launch_name
         << ")  " << to_string(agent.step.verb) << at_site(agent.step.site);
  } else {
    text << " host";
  }
  return text.str();
}

Finding not_kept(std::size_t more) {
  return {"not-kept", "NOT KEPT " + std::to_string(more) + " more findings, after the first " +
                          std::to_string(most_findings) + "; mend these, and run again"};
}

Place Engine::place_of(const Agent& agent, const std::string& role) const {
  Place place;
  place.role = role;
  place.pe = agent.pe;
  place.block = agent.queue >= 0 ? -1 : std::max(agent.block, -1);
  place.queue = agent.queue;
  place.launch = agent.launch;
  place.launch_name = agent.launch_name;
  place.verb = agent.step.verb;
  place.site = agent.step.site;
  return place;
}

Place Engine::place_of(const History::Touch& touch, const std::string& role) const {
  Place place = place_of(*agents_[static_cast<std::size_t>(touch.agent)], role);
  place.launch = touch.launch;
  place.verb = touch.verb;
  place.site = touch.site;
  return place;
}

// This file's own place in the tree says where the tree begins, as this build names files.
const char* in_tree(const char* file) {
  static const std::string_view root = [] {
    constexpr std::string_view here = __FILE__;
    constexpr std::string_view own = "backends/fiber/engine_report.cpp";
    return here.size() > own.size() && here.substr(here.size() - own.size()) == own
               ? here.substr(0, here.size() - own.size())
               : std::string_view();
  }();
  if (!root.empty() && std::string_view(file).substr(0, root.size()) == root)
    return file + root.size();
  // A file compiled elsewhere, with another way back from its build folder.
  while (file[0] == '.') {
    const int up = file[1] == '.' ? 1 : 0;
    if (file[up + 1] != '/') break;
    file += up + 2;
  }
  return file;
}

}  // namespace sym::fiber
