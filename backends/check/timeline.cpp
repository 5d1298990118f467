#include "backends/check/timeline.hpp"

#include <algorithm>

namespace sym::check {

using fiber::Agent;
using fiber::Place;
using fiber::Transfer;
using fiber::Verb;

namespace {

constexpr std::size_t kept_events = 1 << 14;
constexpr std::size_t width = 52;  // of the left column

Place place_of(const Agent& agent, const fiber::Step& step) {
  Place place;
  place.pe = agent.pe;
  place.block = agent.queue >= 0 ? -1 : std::max(agent.block, -1);
  place.queue = agent.queue;
  place.launch = agent.launch;
  place.verb = step.verb;
  place.site = step.site;
  return place;
}

std::string file_of(Site site) {
  if (site.line == 0) return "";
  const std::string file = site.file;
  return "  " + file.substr(file.rfind('/') + 1) + ":" + std::to_string(site.line);
}

bool same(const Place& a, const Place& b) {
  return a.pe == b.pe && a.block == b.block && a.queue == b.queue && a.verb == b.verb &&
         a.launch == b.launch && a.site.line == b.site.line;
}

}  // namespace

void Timeline::begin() {
  events_.clear();
  found_ = false;
}

void Timeline::add(Event event) {
  if (found_) return;
  if (events_.size() == kept_events) events_.pop_front();
  events_.push_back(std::move(event));
}

void Timeline::note(const Agent& agent, What what) {
  Event event;
  event.what = what;
  event.pe = agent.pe;
  event.place = place_of(agent, agent.step);
  event.peer = agent.step.pe;
  add(std::move(event));
}

void Timeline::source_read(const Transfer& transfer) {
  Event event;
  event.what = What::source_read;
  event.pe = transfer.src.pe;
  event.place = place_of(*transfer.issuer, transfer.step);
  event.place.launch = transfer.launch;
  event.peer = transfer.target();
  add(std::move(event));
}

void Timeline::delivered(const Transfer& transfer) {
  Event event;
  event.what = What::delivered;
  event.pe = transfer.target();
  event.place = place_of(*transfer.issuer, transfer.step);
  event.place.launch = transfer.launch;
  event.peer = transfer.issuer->pe;
  event.word = transfer.word_id;
  event.signal = transfer.kind == Transfer::Kind::signal;
  add(std::move(event));
}

void Timeline::reported(const fiber::Finding& finding) {
  if (found_ || !wanted_(finding)) return;
  found_ = true;
  finding_ = finding;
  std::vector<int> pes;
  for (const Place& place : finding.places) {
    if (place.pe >= 0 && std::find(pes.begin(), pes.end(), place.pe) == pes.end())
      pes.push_back(place.pe);
  }
  // Of one PE alone: the one that it last had to do with is the other.
  for (auto it = events_.rbegin(); it != events_.rend() && pes.size() == 1; ++it) {
    if (it->pe == pes[0] && it->peer >= 0 && it->peer != pes[0]) pes.push_back(it->peer);
  }
  for (int pe = 0; pes.size() < 2; ++pe) {
    if (std::find(pes.begin(), pes.end(), pe) == pes.end()) pes.push_back(pe);
  }
  left_ = std::min(pes[0], pes[1]);
  right_ = std::max(pes[0], pes[1]);
}

bool Timeline::is_place(const Event& event) const {
  return event.what != What::woken &&
         std::any_of(finding_.places.begin(), finding_.places.end(),
                     [&](const Place& place) { return same(place, event.place); });
}

// Hosts only where the finding is about one: what they do before a launch is long and the same.
bool Timeline::about(const Event& event) const {
  if (event.pe != left_ && event.pe != right_) return false;
  if (event.place.block >= 0 || event.place.queue >= 0) return true;
  return std::any_of(finding_.places.begin(), finding_.places.end(),
                     [](const Place& place) { return place.block < 0 && place.queue < 0; });
}

std::string Timeline::text(const Event& event) const {
  const Place& place = event.place;
  std::string who;
  if (place.queue >= 0) {
    who = "queue " + std::to_string(place.queue) + " ";
  } else if (place.block > 0) {
    who = "block " + std::to_string(place.block) + " ";
  }
  const std::string verb = to_string(place.verb);
  switch (event.what) {
    case What::verb:
      return who + verb + (event.peer >= 0 ? " PE " + std::to_string(event.peer) : "") +
             file_of(place.site);
    case What::woken:
      return who + verb + " ends" + file_of(place.site);
    case What::source_read:
      return "-> source of " + who + verb + " is read" + file_of(place.site);
    case What::delivered:
      break;
  }
  std::string text = "<- ";
  if (event.peer != event.pe) text += "PE " + std::to_string(event.peer) + " ";
  text += who + verb;
  text += event.signal ? ": slot " + std::to_string(event.word.slot) + " is signalled"
                       : ": data is there";
  return text + file_of(place.site);
}

std::vector<std::string> Timeline::lines(std::size_t most) const {
  if (!found_ || most < 3) return {};
  const auto row = [](const std::string& left, const std::string& right) {
    std::string line = left;
    line.resize(std::max(line.size(), width), ' ');
    return line + (right.empty() ? "|" : "| " + right);
  };
  std::vector<std::string> all;
  for (const Event& event : events_) {
    if (!about(event)) continue;
    const std::string cell = (is_place(event) ? "> " : "  ") + text(event);
    all.push_back(event.pe == left_ ? row(cell, "") : row("", cell));
  }
  const bool cut = all.size() > most - 1;
  const std::size_t kept = cut ? most - 2 : all.size();
  std::vector<std::string> lines{
      row("  PE " + std::to_string(left_), "  PE " + std::to_string(right_))};
  if (cut) lines.push_back("  ... " + std::to_string(all.size() - kept) + " earlier");
  lines.insert(lines.end(), all.end() - static_cast<std::ptrdiff_t>(kept), all.end());
  return lines;
}

}  // namespace sym::check
